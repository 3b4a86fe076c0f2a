// Guides and the reference of the API.
export { type Example, type Guide, guideAt, guides } from './guides.ts';
export { type OpenApiDocument, openApiAt } from './openapi.ts';
export { reference, referencePages } from './reference.ts';
