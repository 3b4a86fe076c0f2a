/**
 * A page in the browser. After a redirect away from the service, `url` is its target, and nothing
 * is loaded.
 */
export interface Shown {
  url: string;
  status: number;
  headers: Headers;
  html: string;
}

interface Cookie {
  value: string;
  path: string;
}

/**
 * Opens a browser without scripts. It visits the service at `authUrl`, everything else on its host,
 * and `others`, whose cookie names differ from ours.
 */
export function openBrowser(authUrl: string, ...others: string[]) {
  const origins = [authUrl, ...others].map((url) => new URL(url).origin);
  const jar = new Map<string, Cookie>();

  function cookiesFor({ pathname }: URL): string {
    const sent = [...jar].filter(([, { path }]) => pathname.startsWith(path));
    return sent.map(([name, { value }]) => `${name.split(' ')[0]}=${value}`).join('; ');
  }

  function keep(headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const path = /; *path=([^;]*)/i.exec(line)?.[1] ?? '/';
      const isOver = /max-age=0|expires=thu, 01 jan 1970/i.test(line);
      if (isOver) jar.delete(`${name} ${path}`);
      else jar.set(`${name} ${path}`, { value, path });
    }
  }

  async function load(address: string, body?: URLSearchParams): Promise<Shown> {
    let url = new URL(address, `${authUrl}/`);
    let method = body ? 'POST' : 'GET';
    let sent: URLSearchParams | undefined = body;
    for (let hops = 0; hops < 12; hops++) {
      if (!origins.includes(url.origin)) {
        return { url: url.href, status: 0, headers: new Headers(), html: '' };
      }
      const response = await fetch(url, {
        method,
        body: sent,
        headers: { Cookie: cookiesFor(url) },
        redirect: 'manual',
      });
      keep(response.headers);
      const { status, headers } = response;
      const html = await response.text();
      const location = headers.get('location') ?? refreshOf(html);
      if (location === undefined) return { url: url.href, status, headers, html };
      url = new URL(location, url);
      method = 'GET';
      sent = undefined;
    }
    throw new Error(`too many redirects: ${url}`);
  }

  /** Fills in and submits the form of the page that contains this text. */
  function submit(
    { url, html }: Shown,
    text: string,
    fields: Record<string, string> = {},
  ): Promise<Shown> {
    const form = html.match(/<form[\s\S]*?<\/form>/g)?.find((each) => each.includes(text));
    if (!form) throw new Error(`${url} has no form with “${text}”`);
    const filled = new URLSearchParams();
    for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
      if (attribute(tag, 'type') === 'hidden') {
        filled.set(attribute(tag, 'name'), attribute(tag, 'value'));
      }
    }
    for (const [name, value] of Object.entries(fields)) filled.set(name, value);
    const action = attribute(form, 'action') || url;
    return load(new URL(action, url).href, filled);
  }

  return {
    /** Cookies by name. Tests may change them. */
    jar,
    visit: (address: string) => load(address),
    post: (address: string, fields: Record<string, string>) =>
      load(address, new URLSearchParams(fields)),
    submit,
    /** Allows access on the consent page. */
    allow: (consent: Shown) => submit(consent, 'Allow', { decision: 'approve' }),
    /** Signs in at the development identity provider, on the way to a page. */
    async signIn(name: string, address = 'account'): Promise<Shown> {
      return submit(await load(address), 'Sign in', { name });
    },
    /** Submits the form of a new application. */
    async register(fields: Record<string, string>): Promise<Shown> {
      const website = 'https://client.example/';
      const form = await load('account/applications');
      return submit(form, 'Register', { name: 'Demo', desc: '', website, ...fields });
    },
  };
}

export type Browser = ReturnType<typeof openBrowser>;

/** Opens a browser, and signs in at the development identity provider. */
export async function openAs(authUrl: string, name: string) {
  const browser = openBrowser(authUrl);
  const account = await browser.signIn(name);
  return { browser, account, id: userIdOn(account) };
}

/**
 * Returns the faults that a page reports in a form, by field. The empty name holds faults of the
 * whole form.
 */
export function faultsOn({ html }: Shown): Record<string, string> {
  const [, ofAll] = /<p class="warning" role="alert">([^<]*)</.exec(html) ?? [];
  const beside = [...html.matchAll(/<p class="fault" id="([^"]*)-fault">([^<]*)</g)];
  for (const [, name = ''] of beside) {
    const field =
      new RegExp(`<(?![^>]* type="hidden")[^>]* name="${name}"[^>]*>`).exec(html)?.[0] ?? '';
    const isTold = attribute(field, 'aria-describedby').split(' ').includes(`${name}-fault`);
    if (!isTold || attribute(field, 'aria-invalid') !== 'true') throw new Error(`${field} is fine`);
  }
  return Object.fromEntries([
    ...(ofAll === undefined ? [] : [['', unescapeHtml(ofAll)]]),
    ...beside.map(([, name, text = '']) => [name, unescapeHtml(text)]),
  ]);
}

/** Returns the content of a field on a page. */
export function contentOf({ html }: Shown, name: string): string | undefined {
  const input = new RegExp(`<input[^>]* name="${name}"[^>]*>`).exec(html)?.[0];
  if (input) return attribute(input, 'value');
  const [, text] = new RegExp(`<textarea[^>]* name="${name}"[^>]*>\n([^<]*)<`).exec(html) ?? [];
  return text && unescapeHtml(text);
}

/** Returns the credentials on the page of an application. The secret is folded away. */
export function credentialsOn(shown: Shown): { client_id: string; client_secret: string } {
  const codeAfter = (before: string) =>
    textBetween(shown, `${before}<code class="copy">`, '</code>');
  return {
    client_id: codeAfter('<h3>Client ID</h3>\n    <p>'),
    client_secret: codeAfter('<summary>Show secret</summary>\n      '),
  };
}

/** Returns the id of the account on its page. */
export const userIdOn = (shown: Shown) =>
  textBetween(shown, '<dt>Your id</dt><dd><code>', '</code>');

/** Returns the token of the session in the forms of a page. */
export const csrfOn = (shown: Shown) => textBetween(shown, 'name="csrf" value="', '"');

/** Returns the heading of a page, as people read it. */
export const headingOf = (shown: Shown) =>
  textBetween(shown, '<h1>', '</h1>').replaceAll(/<\/?bdi>/g, '');

/** Returns the notice about a change. */
export function noticeOn({ html }: Shown): string | undefined {
  return /<p class="notice" role="status">([^<]*)</.exec(html)?.[1]?.trim();
}

/** Returns the targets of links that look like buttons, by their texts. */
export function nextSteps({ html }: Shown): Record<string, string> {
  const main = html.slice(html.indexOf('<main'));
  const links = main.matchAll(/<a class="button[^"]*" href="([^"]*)"[^>]*>([^<]*)</g);
  return Object.fromEntries(
    [...links].map(([, href = '', text = '']) => [unescapeHtml(text), unescapeHtml(href)]),
  );
}

/** Returns the first text between two tags. */
export function textBetween({ html }: Shown, before: string, after: string): string {
  const start = html.indexOf(before);
  if (start < 0) throw new Error(`the page has no ${before}`);
  return unescapeHtml(
    html.slice(start + before.length, html.indexOf(after, start + before.length)),
  ).trim();
}

/** Returns the address that a page loads by itself. */
function refreshOf(html: string): string | undefined {
  const [, url] = /<meta http-equiv="refresh" content="0; url=([^"]*)">/.exec(html) ?? [];
  return url && unescapeHtml(url);
}

function attribute(tag: string, name: string): string {
  return unescapeHtml(new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
}

/** The text of escaped HTML. */
export function unescapeHtml(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
