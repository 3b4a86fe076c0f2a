import { writeFileSync } from 'node:fs';
import { factsOf } from '../infra/guides/facts.ts';
import { renderGuides } from '../infra/guides/render.ts';
import { openApiDocument } from '../infra/openapi/document.ts';
import type { Endpoint } from '../infra/openapi/responses.ts';
import type { OpenApiDocument } from '../shared/openapi.ts';
import { routes } from '../shared/routes.ts';

/** Writes the OpenAPI document and the guides, from routes, endpoints and infra/guides. */
const modules = await Promise.all(
  routes.map(async (route) => ({ route, ...(await import(`../functions/${route.operation}.ts`)) })),
);
const endpoints = modules.filter(({ response }) => response !== undefined) as Endpoint[];
const document: OpenApiDocument = JSON.parse(JSON.stringify(openApiDocument(endpoints)));
write('openapi.json', document);
write('guides.json', renderGuides(factsOf(document, endpoints)));

function write(file: string, content: object): void {
  const url = new URL(`../shared/${file}`, import.meta.url);
  writeFileSync(url, `${JSON.stringify(content, null, 2)}\n`);
}
