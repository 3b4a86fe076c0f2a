/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { loadFunction } from '../../infra/local/invoke.ts';
import { rebuildTotals } from '../../shared/aggregates/rebuild.ts';
import { audit } from '../../shared/audit/audit.ts';
import { recountOwners } from '../../shared/review/recount.ts';
import { routes } from '../../shared/routes.ts';
import { invoke } from '../helpers/invoke.ts';
import { scanTable } from '../helpers/items.ts';
import { expectSmallItems } from '../helpers/sizes.ts';
import { applyStream } from '../helpers/stream.ts';
import { ask, nextOn } from '../helpers/visit.ts';
import { makeWidestAccount, type WidestAccount } from '../helpers/widest-account.ts';

// What the widest account costs on every page and endpoint of a signed-in person. `ask` and
// `invoke` throw when a request passes the budget of its route.

let widest: WidestAccount;

beforeAll(async () => {
  widest = await makeWidestAccount();
  await recountOwners(() => {});
  // The copies are not counted yet.
  for await (const _ of audit({ settle: 0, repair: true }));
  await rebuildTotals();
}, 600_000);

interface Asked {
  path?: Record<string, string>;
  query?: Record<string, string>;
}

/** Requests by operation. Pages and lists of several parts are followed to their end. */
const requests: [operation: string, request: () => Asked][] = [
  ['get-me', () => ({ query: { inc: 'stats' } })],
  ['list-my-reviews', () => ({})],
  ['list-my-reviews', () => ({ query: { offset: '250' } })],
  ['list-my-applications', () => ({})],
  ['list-my-tokens', () => ({})],
  ['export-me', () => ({})],
  ['get-vote', () => ({ path: { review_id: `${widest.others[0]?.id}` } })],

  ['show-home', () => ({})],
  ['show-reviews', () => ({})],
  ['find-entity', () => ({ query: { q: 'Blue' } })],
  ['show-review', () => ({ path: { review_id: `${widest.own[0]?.id}` } })],
  ['show-review', () => ({ path: { review_id: `${widest.others[0]?.id}` } })],
  ['show-revisions', () => ({ path: { review_id: `${widest.own[0]?.id}` } })],
  ['show-entity', () => ({ path: { entity_id: `${widest.others[0]?.entity_id}` } })],
  ['show-user', () => ({ path: { user_id: widest.member.id } })],
  ['show-docs', () => ({})],
  ['show-reference', () => ({})],
  ['show-guide', () => ({ path: { guide: 'oauth' } })],
  ['show-help', () => ({})],

  ['show-new-entity', () => ({ query: { entity_type: 'film' } })],
  [
    'show-naming',
    () => {
      const { entity_id = '', entity_type = '' } = widest.others[0] ?? {};
      return { path: { entity_id }, query: { entity_type } };
    },
  ],
  ['show-review-form', () => ({ query: { entity_id: crypto.randomUUID(), entity_type: 'work' } })],
  ['show-review-editor', () => ({ path: { review_id: `${widest.own[0]?.id}` } })],
  ['show-review-deletion', () => ({ path: { review_id: `${widest.own[0]?.id}` } })],
  ['show-report', () => ({ path: { review_id: `${widest.others[1]?.id}` } })],
  ['show-vote', () => ({ path: { review_id: `${widest.others[0]?.id}` } })],
  ['show-sign-out', () => ({})],
  ['show-account-deletion', () => ({})],
  ['show-applications', () => ({})],
  ['show-application', () => ({ path: { client_id: widest.client_id } })],
  [
    'show-webhook',
    () => ({ path: { client_id: widest.client_id, webhook_id: widest.webhook_id } }),
  ],
  ['show-connections', () => ({})],
  ['show-tokens', () => ({})],
  ['download-data', () => ({})],
  ['show-cases', () => ({})],
  [
    'show-proposals',
    () => {
      const { entity_id = '', entity_type = '' } = widest.others[0] ?? {};
      return { path: { entity_id }, query: { entity_type } };
    },
  ],
  ['show-decisions', () => ({})],
  ['show-case', () => ({ path: { review_id: `${widest.others[0]?.id}` } })],
  ['show-author', () => ({ path: { user_id: widest.subject.id } })],
  ['show-author', () => ({ path: { user_id: widest.member.id } })],
  ['show-my-reviews', () => ({})],
  ['show-my-votes', () => ({})],
  ['show-my-names', () => ({})],
  ['show-account', () => ({})],
];

/** Answers of an operation, from the first part to the last. */
async function follow(operation: string, { path, query }: Asked) {
  const route = routes.find((each) => each.operation === operation);
  const isPage = route?.base === '';
  const { member } = widest;
  const parts: { status: number; next: string | undefined }[] = [];
  let cursor: string | undefined;
  do {
    const asked = { path, query: cursor === undefined ? query : { ...query, cursor } };
    const handler = await loadFunction(operation);
    const { status, body } = isPage
      ? await ask(operation, member, asked)
      : await invoke(handler, { caller: member.caller, ...asked });
    cursor = isPage ? nextOn(`${body}`) : (body.next ?? undefined);
    parts.push({ status, next: cursor });
  } while (cursor !== undefined && parts.length < 20);
  return parts;
}

describe('a request of the widest account stays within its budget', () => {
  test.each(requests)('%s', async (operation, request) => {
    const parts = await follow(operation, request());
    expect(parts.map(({ status }) => status)).toEqual(parts.map(() => 200));
  });

  test('every page and endpoint that it may read is among these', () => {
    const known = new Set(requests.map(([operation]) => operation));
    const missing = routes.filter(
      ({ method, table, secrets = [], operation }) =>
        method === 'GET' &&
        (table.startsWith('read') || (table !== 'none' && secrets.includes('SESSION_KEYS'))) &&
        !known.has(operation),
    );
    // Asking for access writes a request, and signing in an account. A page of the operator's needs
    // a folder, and reads what the other pages read.
    expect(missing.map(({ operation }) => operation)).toEqual([
      'show-site-page',
      'request-authorization',
      'finish-sign-in',
    ]);
  });

  test('and no item is larger than its kind may be', expectSmallItems);

  test('its deletion, after which nothing is left and every count is right', async () => {
    const { member } = widest;
    await applyStream();
    await member.leaves();
    await applyStream();
    const left = (await scanTable()).filter(
      ({ pk, sk, user_id }) =>
        sk !== 'DECISION' && sk !== 'PROJECTION' && [pk, sk, user_id].join().includes(member.id),
    );
    expect(left).toEqual([]);
    for await (const { differences } of audit({ settle: 0 })) expect(differences).toEqual([]);
  });
});
