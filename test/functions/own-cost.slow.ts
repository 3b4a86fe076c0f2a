/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import { loadFunction } from '../../infra/local/invoke.ts';
import type { Route } from '../../shared/base/routes.ts';
import type { WholeReview } from '../../shared/core/review/review.ts';
import { audit } from '../../shared/features/audit/audit.ts';
import { rebuildTotals } from '../../shared/features/audit/rebuild.ts';
import { recountOwners } from '../../shared/features/audit/recount.ts';
import { invoke } from '../helpers/invoke.ts';
import { scanTable } from '../helpers/items.ts';
import { nameEntities } from '../helpers/names.ts';
import { ownReads, visitedPages } from '../helpers/routes.ts';
import { type Sample, samplesOf, sceneOf } from '../helpers/samples.ts';
import { expectSmallItems } from '../helpers/sizes.ts';
import { applyStream } from '../helpers/stream.ts';
import { ask, nextOn } from '../helpers/visit.ts';
import { makeWidestAccount, type WidestAccount } from '../helpers/widest-account.ts';

// What the widest account costs on every page and endpoint of a signed-in person. `ask` and
// `invoke` throw when a request passes the budget of its route.

let widest: WidestAccount;

beforeAll(async () => {
  widest = await makeWidestAccount();
  for (const { entity_id, entity_type } of widest.others.slice(0, 2)) {
    await nameEntities({ [entity_id]: 'Blue' }, entity_type);
  }
  await recountOwners();
  // The copies are not counted yet.
  for await (const _ of audit({ settle: 0, repair: true }));
  await rebuildTotals();
}, 600_000);

/** The statuses of a request's parts, from the first to the last. */
async function follow(route: Route, { path, query }: Sample) {
  const { member } = widest;
  const statuses = [];
  let cursor: string | undefined;
  do {
    const asked = { path, query: cursor === undefined ? query : { ...query, cursor } };
    const { status, body } = route.isPage
      ? await ask(route.operation, member, asked)
      : await invoke(await loadFunction(route.operation), { caller: member.caller, ...asked });
    cursor = route.isPage ? nextOn(`${body}`) : (body.next ?? undefined);
    statuses.push(status);
  } while (cursor !== undefined && statuses.length < 20);
  return statuses;
}

describe('a request of the widest account stays within its budget', () => {
  test.each([...ownReads, ...visitedPages])('$operation', async (route) => {
    const { others, own, client_id, webhook_id } = widest;
    const [review] = others as [WholeReview];
    const [mine] = own as [WholeReview];
    const more = { client_id, webhook_id, own: mine.id };
    const isOfAnybody = visitedPages.includes(route) || route.operation === 'show-author';
    for (const scene of [sceneOf(review, more), ...(isOfAnybody ? [sceneOf(mine, more)] : [])]) {
      for (const sample of samplesOf(route, scene)) {
        const statuses = await follow(route, sample);
        expect([sample, new Set(statuses)]).toEqual([sample, new Set([200])]);
      }
    }
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
