import * as v from 'valibot';
import { partsOf, readRequest } from '../../shared/http/read-request.ts';
import { readStop, stopPage } from '../../shared/pages/account/stop-mails.ts';
import { browserHandler } from '../../shared/pages/frame/error-page.ts';
import { respond } from '../../shared/pages/frame/html-response.ts';

export const request = v.object({ path: v.object({ token: v.string() }) });

/** Shows a button that ends mails of a kind. */
export const handler = browserHandler(async (event) => {
  const { path } = readRequest(request, partsOf(event));
  return respond(stopPage(await readStop(path.token)));
});
