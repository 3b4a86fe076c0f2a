import { randomUUID } from 'node:crypto';
import type { DynamoDBRecord } from 'aws-lambda';
import { entityKey, userKey } from '../../shared/core/keys.ts';
import { deleteApplication } from '../../shared/core/oauth/application-repository.ts';
import { appeal, decideReview, setHidden } from '../../shared/core/report/decision-repository.ts';
import { insertReport } from '../../shared/core/report/report-repository.ts';
import { eraseAccount } from '../../shared/features/account/erase-account.ts';
import { audit } from '../../shared/features/audit/audit.ts';
import { recountOwners } from '../../shared/features/audit/recount.ts';
import { importRecords } from '../../shared/features/transfer/import.ts';
import { setAttributes } from '../helpers/items.ts';
import { makeClient } from '../helpers/oauth-client.ts';
import { readStream } from '../helpers/stream.ts';
import { recordTime, reviewRecord, revisionRecord, sourced } from '../helpers/transfer.ts';
import { makeUsers, operator, type Person, text } from '../helpers/world.ts';

/** Counted attributes, by the sort key of the item that counts. */
const counted: Record<string, RegExp> = {
  USER: /^(karma|applications)$/,
  COUNTS: /^(written|release_group|[A-Z]{2}|[trb][1-5]?)$/,
  ENTITY: /^(release_group|[A-Z]{2}|[trb][1-5]?)$/,
  REVIEW:
    /^((revision_)?votes_(positive|negative)|popularity|edits|is_hidden|published_on|rating)$/,
  CASE: /^(state|round|reports|spam|abuse|off_topic|copyright|other)$/,
};

/** Counts that the stream records change, and those changed without raising the version. */
function changesIn(records: readonly DynamoDBRecord[]) {
  const changed = new Set<string>();
  const unmarked = [];
  for (const { dynamodb } of records) {
    const { Keys, OldImage, NewImage } = dynamodb ?? {};
    const sk = Keys?.sk?.S ?? '';
    if (!OldImage || !NewImage || !counted[sk]) continue;
    const names = Object.keys({ ...OldImage, ...NewImage }).filter(
      (name) =>
        counted[sk]?.test(name) &&
        JSON.stringify(OldImage[name]) !== JSON.stringify(NewImage[name]),
    );
    for (const name of names) changed.add(`${sk} ${name}`);
    const isRaised = Number(NewImage.version?.N) > Number(OldImage.version?.N ?? 0);
    if (names.length > 0 && !isRaised) unmarked.push(`${Keys?.pk?.S} ${names}`);
  }
  return { changed, unmarked };
}

async function exhaust(pages: AsyncIterable<unknown>) {
  for await (const _ of pages);
}

test('every change of a count also raises its item’s version', async () => {
  const users = await makeUsers(5);
  const [author, other, reader, third, fourth] = users;
  const entity_id = randomUUID();
  const first = await author.publishes({ entity_id });
  const second = await other.publishes({ entity_id, is_draft: true });
  await other.edits(second, { is_draft: false });
  await author.edits(first, { rating: 2 });
  await reader.votes(first);
  await other.votes(first, 'down');
  await reader.votes(first, 'down');
  await author.edits(first, { text: `${text} Again.` });
  await reader.votes(first);
  await other.withdrawsVote(first);
  await other.votes(first);

  const report = ({ id: user_id }: Person) =>
    insertReport({ id: first, user_id: author.id }, { user_id, reason: 'Spam' });
  await report(reader);
  await report(other);
  await decideReview(first, 'dismiss', operator);
  await report(third);
  await setHidden(first, true);
  await appeal(first, author.id, 'Please.');
  await setHidden(first, false);
  await report(fourth);

  await deleteApplication((await makeClient(author)).client_id, author.id);

  const time = recordTime;
  const id = randomUUID();
  const { refused } = await importRecords(
    sourced([
      reviewRecord(reader.id, {
        id,
        entity_id,
        entity_type: 'release_group',
        revisions: [revisionRecord({ text, rating: 4 })],
      }),
      { kind: 'vote', review_id: id, user_id: other.id, vote: true, voted_at: time, revision: 1 },
    ]),
  );
  expect(refused).toEqual({});

  await other.leaves();
  await eraseAccount(other.id);
  await reader.deletes(id);
  const { changed, unmarked } = changesIn(await readStream());
  expect(unmarked).toEqual([]);
  const owner = ['USER karma', 'USER applications', 'COUNTS written'];
  const sums = ['COUNTS release_group', 'ENTITY release_group', 'ENTITY EN', 'ENTITY b4'];
  const others = ['REVIEW popularity', 'REVIEW is_hidden', 'CASE reports', 'CASE round'];
  expect([...changed]).toEqual(expect.arrayContaining([...owner, ...sums, ...others]));

  const repairs: [string, () => Promise<unknown>][] = [
    ['a recount', () => recountOwners()],
    ['an audit', () => exhaust(audit({ repair: true, settle: 0, patience: 0 }))],
  ];
  for (const [by, repair] of repairs) {
    await setAttributes(userKey(author.id), { karma: 9 });
    await setAttributes(entityKey(entity_id), { b5: 9 });
    await readStream();
    await repair();
    const { changed, unmarked } = changesIn(await readStream());
    expect({ by, unmarked }).toEqual({ by, unmarked: [] });
    expect([...changed].toSorted()).toEqual(['ENTITY b5', 'USER karma']);
  }
});
