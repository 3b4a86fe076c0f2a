import { authUrl } from '../shared/auth-url.ts';
import { browserHandler } from '../shared/pages/error-page.ts';
import { respond } from '../shared/pages/html-response.ts';

/** The documentation begins with the reference, as long as that is all there is. */
export const handler = browserHandler(() => respond({ location: `${authUrl()}/docs/api` }));
