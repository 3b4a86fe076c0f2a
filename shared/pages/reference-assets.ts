const folder = 'node_modules/swagger-ui-dist';

/**
 * Names, below {auth_url}/docs/api, of what the reference loads. They have the version of Swagger UI in
 * them.
 */
export const script = 'swagger-ui-5.35.0.js';
export const style = 'swagger-ui-5.35.0.css';

/** The files that are served by these names. */
export const assets: Readonly<Record<string, string>> = {
  [script]: `${folder}/swagger-ui-bundle.js`,
  [style]: `${folder}/swagger-ui.css`,
};
