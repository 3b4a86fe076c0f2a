import { callerOf } from '../helpers/api.ts';
import { credentialsOn, openAs } from '../helpers/browser.ts';
import { restore, stopClock } from '../helpers/clock.ts';
import { isThere, type LanguageName, languages, startProgram } from '../helpers/languages.ts';
import { startTestStack } from '../helpers/stack.ts';

// OAuth libraries of other languages, as they come: none of them sends a redirect_uri at a refresh.

const { url, authUrl } = await startTestStack();
const redirect_uri = 'http://localhost:9/callback';
const name = 'Ann O’Reader';
const { browser, id: userId } = await openAs(authUrl, name);
const shown = await browser.register({ name: 'Library', redirect_uri });
const { client_id, client_secret } = credentialsOn(shown);
const hour = 3_600_000;

const libraries: Record<LanguageName, [program: string, ...libraries: string[]]> = {
  Go: ['clients', 'golang.org/x/oauth2'],
  Java: ['OAuth', 'nimbus', 'scribejava', 'google', 'spring'],
  Python: ['oauth', 'authlib', 'httpx-oauth'],
  Rust: ['oauth', 'oauth2'],
};

describe.each(Object.entries(libraries))('%s', (language, [program, ...names]) => {
  const { prepare, run } = languages[language as LanguageName];
  if (!isThere(language as LanguageName)) {
    test.skip(`${language} is not installed, so its libraries are not tried`, () => {});
    return;
  }
  beforeAll(() => void prepare(), 1_200_000);

  test.each(names)('%s refreshes after an hour, publishes and follows', async (library) => {
    const { send, read } = startProgram(run(program, library), {
      BASE: url,
      AUTHORIZE: `${authUrl}/oauth/authorize`,
      CLIENT: client_id,
      CLIENT_SECRET: client_secret,
      REDIRECT_URI: redirect_uri,
      REVIEW: JSON.stringify({
        entity_id: crypto.randomUUID(),
        entity_type: 'work',
        text: 'Better each time it is heard.',
        license_choice: 'CC BY-SA 4.0',
      }),
    });
    const consent = await browser.visit(await read('authorize'));
    send((await browser.allow(consent)).url);
    expect(await read('scope')).toBe('review vote');

    const { access_token } = await lastTokens();
    stopClock(Date.now() + hour + 1_000);
    expect(await callerOf(url, access_token)('GET', '/user/me')).toHaveStatus(401);
    send('An hour later');
    expect(await read('refreshed')).toBe(name);
    restore();

    send('Publish and follow');
    const id = await read('published');
    expect(await read('followed')).toBe(id);
    const { body } = await callerOf(url)('GET', `/review/${id}`);
    expect(body.review).toMatchObject({ id, user: { display_name: name } });
  });
});

/** Returns the access token of the last grant, as its application has it. */
async function lastTokens() {
  const { listGrants } = await import('../../shared/core/oauth/grant-repository.ts');
  const { tokenResponse } = await import('../../shared/core/oauth/grant.ts');
  const grants = await listGrants(userId, client_id);
  const grant = grants.at(-1);
  if (!grant) throw new Error('There is no grant');
  return tokenResponse(grant);
}
