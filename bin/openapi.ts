import { writeFileSync } from 'node:fs';
import { importFunction } from '../infra/functions.ts';
import { factsOf } from '../infra/guides/facts.ts';
import { renderGuides } from '../infra/guides/render.ts';
import { openApiDocument } from '../infra/openapi/document.ts';
import type { Endpoint } from '../infra/openapi/responses.ts';
import type { Description } from '../infra/reference/description.ts';
import { renderReference } from '../infra/reference/render.ts';
import { renderStyle } from '../infra/style/render.ts';
import type { OpenApiDocument } from '../shared/docs/openapi.ts';
import { routes } from '../shared/routes.ts';

/**
 * Writes the OpenAPI document, the guides, the reference and the style of pages, from routes,
 * infra/guides and style sheets.
 */
const modules = await Promise.all(
  routes.map(async (route) => ({ route, ...(await importFunction(route.operation)) })),
);
const endpoints = modules.filter(({ response }) => response !== undefined) as Endpoint[];
const text = JSON.stringify(openApiDocument(endpoints));
const document: OpenApiDocument = JSON.parse(text);
const description: Description = JSON.parse(text);
write('docs/openapi.json', document);
const facts = factsOf(document, endpoints);
write('docs/guides.json', renderGuides(facts));
write('docs/reference.json', renderReference(description, facts.auth_url));
write('pages/frame/style.json', renderStyle());

function write(file: string, content: object): void {
  const url = new URL(`../shared/${file}`, import.meta.url);
  writeFileSync(url, `${JSON.stringify(content, null, 2)}\n`);
}
