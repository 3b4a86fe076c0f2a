import { writeFileSync } from 'node:fs';
import { openApiDocument } from '../infra/openapi/document.ts';
import type { Endpoint } from '../infra/openapi/responses.ts';
import { routes } from '../shared/routes.ts';

/** Writes the API's description anew, from the route table and what the endpoints say of themselves: `npm run openapi`. */
const modules = await Promise.all(
  routes.map(async (route) => ({ route, ...(await import(`../functions/${route.operation}.ts`)) })),
);
const endpoints = modules.filter(({ response }) => response !== undefined) as Endpoint[];
writeFileSync(
  new URL('../shared/openapi.json', import.meta.url),
  `${JSON.stringify(openApiDocument(endpoints), null, 2)}\n`,
);
