import { writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { importFunction } from '../infra/functions.ts';
import { factsOf } from '../infra/guides/facts.ts';
import { renderGuides } from '../infra/guides/render.ts';
import { openApiDocument } from '../infra/openapi/document.ts';
import type { Endpoint } from '../infra/openapi/responses.ts';
import type { Description } from '../infra/reference/description.ts';
import { renderReference } from '../infra/reference/render.ts';
import { renderStyle } from '../infra/style/render.ts';
import { routes } from '../shared/base/routes.ts';
import type { OpenApiDocument } from '../shared/features/docs/public.ts';

// Writes what bin/generated.cjs lists, from routes, infra/guides and style sheets.
const modules = await Promise.all(
  routes.map(async (route) => ({ route, ...(await importFunction(route.operation)) })),
);
const endpoints = modules.filter(({ response }) => response !== undefined) as Endpoint[];
const text = JSON.stringify(openApiDocument(endpoints));
const document: OpenApiDocument = JSON.parse(text);
const description: Description = JSON.parse(text);
write('shared/features/docs/openapi.json', json(document));
const facts = factsOf(document, endpoints);
write('shared/features/docs/guides.json', json(renderGuides(facts)));
write('shared/features/docs/reference.json', json(renderReference(description, facts.auth_url)));
write('shared/pages/frame/style.json', json(renderStyle()));
write('infra/client/description.d.ts', astToString(await openapiTS(text)));

function json(content: object): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}

function write(file: string, text: string): void {
  writeFileSync(new URL(`../${file}`, import.meta.url), text);
}
