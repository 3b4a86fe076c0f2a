import * as v from 'valibot';
import { invalidRequest } from '../../shared/base/errors.ts';
import { partsOf, readRequest, requireHttps } from '../../shared/core/http/read-request.ts';
import { hashOfAddress } from '../../shared/core/user/claimable.ts';
import { setMails } from '../../shared/core/user/mails.ts';
import { findAccount } from '../../shared/core/user/user-repository.ts';
import { readStop, stoppedPage } from '../../shared/features/notices/public.ts';
import { browserHandler } from '../../shared/pages/frame/error-page.ts';
import { respond } from '../../shared/pages/frame/html-response.ts';

export const request = v.object({ path: v.object({ token: v.string() }) });

/**
 * Ends mails of a kind. The link is the only proof: mail programs send this without cookies, and
 * with a body of any form (RFC 8058).
 */
export const handler = browserHandler(async (event) => {
  requireHttps(event);
  const { path } = readRequest(request, partsOf(event));
  const stop = await readStop(path.token);
  const account = await findAccount(stop.user_id);
  const { email = null } = account?.contact ?? {};
  // An address that is another one by now gets no mails of earlier links.
  if (email === null || hashOfAddress(email) !== stop.address) {
    throw invalidRequest('This address gets no such mails any more');
  }
  await setMails(stop.user_id, { [stop.kind]: false });
  return respond(stoppedPage(stop));
});
