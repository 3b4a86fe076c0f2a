/** A page that a browser shows, or the address outside the service that it was sent to. */
interface Shown {
  url: URL;
  status: number;
  headers: Headers;
  html: string;
  /** True for a redirect that leaves the service. */
  isAway: boolean;
}

/** An answer as it was received. */
export interface Reply {
  status: number;
  headers: Headers;
  text: string;
}

type Send = (url: string | URL, init: RequestInit) => Promise<Reply>;

/** Makes a browser without scripts, which signs in and answers consent pages. */
export function makeBrowser(send: Send) {
  /** Cookies by name. */
  const jar = new Map<string, string>();

  async function load(address: string | URL, form?: URLSearchParams): Promise<Shown> {
    let url = new URL(address);
    let body = form;
    const { host } = url;
    for (let hops = 0; hops < 12; hops++) {
      const cookies = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const method = body ? 'POST' : 'GET';
      const init = { method, body, headers: { Cookie: cookies }, redirect: 'manual' } as const;
      const { status, headers, text: html } = await send(url, init);
      for (const line of headers.getSetCookie()) keep(line);
      const target = headers.get('location') ?? refreshIn(html);
      const shown = { url, status, headers, html };
      if (target === undefined) return { ...shown, isAway: false };
      url = new URL(target, url);
      body = undefined;
      if (url.host !== host) return { ...shown, url, isAway: true };
    }
    throw new Error(`too many redirects: ${url}`);
  }

  function keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const isOver = /max-age=0|expires=thu, 01 jan 1970/i.test(line);
    if (isOver) jar.delete(name);
    else jar.set(name, value);
  }

  /** Sends the form with this part, with its hidden fields and these. */
  function submit({ url, html }: Shown, part: RegExp, fields: Record<string, string>) {
    const form = html.match(/<form[\s\S]*?<\/form>/g)?.find((each) => part.test(each));
    if (form === undefined) return undefined;
    const hidden = [...form.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([tag]) => [
      attribute(tag, 'name'),
      attribute(tag, 'value'),
    ]);
    const action = new URL(attribute(form, 'action') || url, url);
    return load(action, new URLSearchParams({ ...Object.fromEntries(hidden), ...fields }));
  }

  return {
    /** Takes the cookies of somebody else's browser, as its header `Cookie`. */
    adopt(cookies: string): void {
      for (const pair of cookies.split(/; */)) keep(pair);
    },

    /** Signs in at a provider that asks for a name alone. Returns false at any other. */
    async signIn(auth: string, name: string): Promise<boolean> {
      const page = await load(`${auth}/account/sign-in`);
      const account = await submit(page, /name="name"/, { name });
      return account?.status === 200;
    },

    /**
     * Opens an authorization request, and answers its consent page. The body of the result is the
     * query that the browser carries to the application, or the page that it shows.
     */
    async answerConsent(address: string, answer: 'yes' | 'no') {
      const page = await load(address);
      const shown = page.isAway ? page : await press(page, answer);
      const { url, status, headers, html } = shown;
      if (!shown.isAway) return { status, headers, body: html };
      return { status: 302, headers, body: Object.fromEntries(url.searchParams) };
    },
  };

  async function press(page: Shown, answer: 'yes' | 'no'): Promise<Shown> {
    const buttons = [...page.html.matchAll(/<button([^>]*)>([^<]*)/g)].map(
      ([, tag = '', text]) => ({
        name: attribute(tag, 'name'),
        value: attribute(tag, 'value'),
        isNo: /not|deny|refuse|decline|cancel/i.test(`${text}`),
      }),
    );
    const button = buttons.find(({ name, isNo }) => name !== '' && isNo === (answer === 'no'));
    if (!button) return page;
    const { name, value } = button;
    return (await submit(page, new RegExp(`name="${name}"`), { [name]: value })) ?? page;
  }
}

function refreshIn(html: string): string | undefined {
  const [, url] = /<meta http-equiv="refresh" content="0; url=([^"]*)">/.exec(html) ?? [];
  return url?.replaceAll('&amp;', '&');
}

function attribute(tag: string, name: string): string {
  return (new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '').replaceAll('&amp;', '&');
}
