import { authUrl } from '../auth-url.ts';

/** The page of ours to return to. Any other address becomes that of the account, because the parameter is anybody's to write. */
export function ownUrl(return_to = ''): string {
  const home = new URL(`${authUrl()}/account`).href;
  const asked = URL.parse(return_to, home);
  const url = asked && asked.origin + asked.pathname + asked.search;
  return url?.startsWith(new URL('.', home).href) ? url : home;
}
