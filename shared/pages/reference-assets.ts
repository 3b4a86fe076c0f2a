const folder = 'node_modules/swagger-ui-dist';

/** File names of the reference below {auth_url}/docs/api, with the version of Swagger UI. */
export const script = 'swagger-ui-5.35.0.js';
export const style = 'swagger-ui-5.35.0.css';

/** Paths of the files by name. */
export const assets: Readonly<Record<string, string>> = {
  [script]: `${folder}/swagger-ui-bundle.js`,
  [style]: `${folder}/swagger-ui.css`,
};
