import { readDiscovery } from '../../infra/local/storage/discovery.ts';
import { routes } from '../../shared/base/routes.ts';
import { matchRoute } from '../../shared/core/http/match-route.ts';
import { startTestStack } from '../helpers/stack.ts';
import * as lists from './lists.ts';
import { publishing } from './review.ts';
import { sections } from './sections.ts';
import { check } from './suite/check.ts';
import type { Operator } from './suite/people.ts';
import { lineOf } from './suite/report.ts';
import type { Section } from './suite/row.ts';
import { profiles } from './users.ts';
import { votes } from './votes.ts';

const { url, dataDir } = await startTestStack();
const { admin, dataFolder } = await import('../helpers/admin.ts');
const { identity_provider = null } = readDiscovery(dataDir) ?? {};
const folder = dataFolder({ identity_provider });

const operator: Operator = async (...args) => {
  const { code, stdout, stderr } = await admin(args, folder);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
};

/** Tries these sections with the stack of this file. Returns the results by their outcome. */
async function trying(chosen: readonly Section[], subject: Partial<Parameters<typeof check>[1]>) {
  const run = await check(chosen, { base: url, environment: {}, ...subject });
  const {
    holds = [],
    differs = [],
    untried = [],
  } = Object.groupBy(run.results, ({ outcome }) => outcome);
  return { ...run, holds, differs, untried };
}

/** Names the endpoints that a row of the contract does not ask. */
function unasked(asked: readonly { method: string; url: string }[]) {
  const known = asked.flatMap(({ method, url: address }) => {
    const path = new URL(address).pathname.replace(/^\/ws/, '');
    return matchRoute(method, path)?.route.operation ?? [];
  });
  const endpoints = routes.filter(({ base }) => base === undefined);
  return endpoints.map(({ operation }) => operation).filter((each) => !known.includes(each));
}

test('the stack on this machine holds the contract, and nothing but decisions stays', async () => {
  const fetching = jest.spyOn(globalThis, 'fetch');
  const { holds, differs, stopped, left } = await trying(sections, { operator });
  expect(differs.map(lineOf)).toEqual([]);
  expect({ stopped, left }).toEqual({
    stopped: undefined,
    left: ['3 decisions in the log of moderators'],
  });
  expect(holds.length).toBeGreaterThan(550);
  const asked = fetching.mock.calls.map(([url, init]) => ({
    method: `${init?.method}`,
    url: `${url}`,
  }));
  expect(unasked(asked)).toEqual([]);
});

/** Mistakes that a service could make, as changes of its answers. */
type Mistake = (request: { method: string; url: string }, body: string) => string | undefined;

const done = '{"message":"Request processed successfully"}';
const mistakes: readonly Mistake[] = [
  // The very first row.
  ({ url }, body) =>
    url.endsWith('/review/languages') ? body.replace('"zu"', '"zulu"') : undefined,
  // An upper bound that is off by one.
  ({ url }) => (url.endsWith('/review/?limit=51') ? '{}' : undefined),
  // A vote on a review without a text.
  ({ method }, body) => (method === 'PUT' && /without text|no text/.test(body) ? done : undefined),
  // A lookup that does not say which id is which.
  ({ url }, body) =>
    url.includes('/reviews/?review_ids=') && body.startsWith('{"reviews"')
      ? JSON.stringify({ ...JSON.parse(body), review_id_mapping: {} })
      : undefined,
];

test('each mistake of a service is seen, and no other row is named', async () => {
  const honest = globalThis.fetch;
  jest.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const answer = await honest(input, init);
    const body = await answer.clone().text();
    const request = { method: `${init?.method}`, url: `${input}` };
    const changed = mistakes.map((mistake) => mistake(request, body)).find(Boolean);
    return changed === undefined ? answer : new Response(changed, { headers: answer.headers });
  });
  const { languageList, reviewList, bulk } = lists;
  const chosen = [languageList, profiles, publishing, votes, reviewList, bulk];
  const { differs, left } = await trying(chosen, { operator });
  expect(left).toEqual([]);
  expect(differs.map(({ claim }) => claim)).toEqual([
    'The answer is a list of ISO 639-1 codes',
    'It has all of them',
    'A review without text takes no vote',
    'limit=51 is refused',
    'Reviews by their ids, and the ids as they were sent',
    'An id in another form has its canonical key',
    'An id without hyphens',
    'An id as urn:uuid:',
    'An id with hyphens elsewhere',
    'An id as URN:UUID:',
    'An id in braces',
    'An id in two forms counts once',
  ]);
});
