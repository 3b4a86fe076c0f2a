import {
  contentOf,
  credentialsOn,
  faultsOn,
  headingOf,
  nextSteps,
  openAs,
  openBrowser,
  type Shown,
  textBetween,
} from './browser.ts';
import { startTestStack } from './stack.ts';

/** Parameters of an authorization request. A list sends each value; undefined omits one. */
export type Parameters = Record<string, string | readonly string[] | undefined>;

/** The redirect URI of the application that asks. */
export const redirect_uri = 'https://client.example/cb/a?kept=1';

/** An address of somebody who attacks. */
export const evilUri = 'https://evil.example/';

/** Titles of error pages, by status. */
const errorTitles: Record<number, RegExp> = {
  400: /^(That did not work|Please start again|You are not signed in|.* was not connected)$/,
  401: /^(You are signed out|Your account was deleted)$/,
  403: /^Please try again$/,
  404: /^Application not found$/,
};

/**
 * Starts the service for one test file, with an application that asks for access, its owner, Ann,
 * who is signed in, and a stranger, who is not. Import modules of shared/ after it.
 */
export async function startAuthorization() {
  const { url, authUrl: issuer, stream } = await startTestStack();
  const { makeUser } = await import('./world.ts');
  const { makeClient } = await import('./oauth-client.ts');
  const { scanTable } = await import('./items.ts');
  const owner = await makeUser();
  const client = await makeClient(owner, redirect_uri);
  const come = (name: string) => openAs(issuer, name);
  const { browser: ann, id: annsId } = await come('Ann');

  return {
    url,
    issuer,
    stream,
    owner,
    client,
    client_id: client.client_id,
    ann,
    annsId,
    stranger: openBrowser(issuer),
    /** Opens a browser, and signs in with this name. */
    come,

    /** Returns the URL of an authorization request with these parameters changed. */
    authorizeUrl(parameters: Parameters = {}): string {
      const all: Parameters = {
        response_type: 'code',
        client_id: client.client_id,
        redirect_uri,
        ...parameters,
      };
      const pairs = Object.entries(all).flatMap(([name, value]) =>
        value === undefined ? [] : [value].flat().map((each) => [name, each]),
      );
      return `${issuer}/oauth/authorize?${new URLSearchParams(pairs as [string, string][])}`;
    },

    /** Expects an error page of the service, with a link to go on. */
    expectErrorPage(page: Shown, status = 400, title = errorTitles[status]): void {
      expect(page.url.startsWith(`${issuer}/`)).toBe(true);
      expect(page).toHaveStatus(status);
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(headingOf(page)).toMatch(title ?? /^$/);
      expect(Object.keys(nextSteps(page))).not.toEqual([]);
    },

    /** Counts the stored authorization requests. */
    async countRequests(): Promise<number> {
      return (await scanTable()).filter(({ sk }) => sk === 'REQUEST').length;
    },
  };
}

/** Expects the form again, as it was sent, with the fault of one field. */
export function expectFormAgain(page: Shown, name: string, value: string, fault?: string): void {
  expect(page).toHaveStatus(400);
  expect(faultsOn(page)).toEqual({
    '': 'Nothing was saved. Correct the fields marked below.',
    [name]: fault ?? expect.stringMatching(/^(It must .*|Please fill this in)\.$/),
  });
  expect(contentOf(page, name)).toBe(value.replaceAll('\0', '\ufffd'));
}

/** Returns the parameters of a redirect to the client. */
export function sentBack({ url }: Pick<Shown, 'url'>): URLSearchParams {
  expect(url.startsWith(`${redirect_uri}&`)).toBe(true);
  return new URL(url).searchParams;
}

/** Returns the authorization code in a redirect to the client. */
export const codeIn = (page: Shown) => sentBack(page).get('code') ?? '';

/** Returns the id of the application that a page shows. */
export const clientIdOn = (page: Shown) => credentialsOn(page).client_id;

/** Returns the address of the request that a consent page asks about. */
export const requestOf = (consent: Shown) =>
  textBetween(consent, '<form method="post" action="', '"');

/** Returns the parameters of a PKCE challenge. */
export const pkce = (
  code_challenge: Parameters[string],
  code_challenge_method: Parameters[string],
) => ({ code_challenge, code_challenge_method });
