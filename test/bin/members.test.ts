import { describe, expect, test } from '@jest/globals';
import { findThings } from '../../shared/features/things/find-things.ts';
import { parseRecord } from '../../shared/features/transfer/record.ts';
import { readItem, scanTable } from '../helpers/items.ts';
import { membersFile } from '../helpers/printed-commands.ts';
import { enterTable } from '../helpers/table.ts';
import { ask, emptyTable, expectRight, file, importBroken } from '../helpers/transfer-commands.ts';

const maria = '0d6ae4f4-2b0c-4d53-9d0e-3f0e6f3c7a11';
const lines = membersFile().trimEnd().split('\n');
const [, , , thing = '', review = '', vote = ''] = lines;

test('the file of the guide is imported as its explanation says', async () => {
  const { name, dataDir } = await emptyTable();
  const written = { user: 2, entity: 1, review: 1, vote: 1 };
  expect(await ask(['import', file(membersFile())], dataDir)).toMatchObject({
    written,
    refused: {},
    things_without_name: {},
    // Jonas.
    accounts_nobody_can_claim: 1,
  });
  enterTable(name);
  const id = 'b8a3f5d6-4d6b-4bb0-9f35-6f0a1c2d3e33';
  expect(await readItem({ pk: `REVIEW#${id}`, sk: 'REVIEW' })).toMatchObject({
    user_id: maria,
    is_hidden: false,
    text: 'Forty minutes that still reward every listen.',
    rating: 5,
    edits: 1,
    created: '2020-02-29T12:00:00.000Z',
    last_updated: '2021-01-03T09:15:00.000Z',
    votes_positive: 1,
    source: 'Our old forum',
  });
  const [{ record } = {}] = (await findThings('coltrane')).things;
  expect(record).toEqual({
    entity_id: '6e335887-60ba-38f0-95af-fae7774336bf',
    entity_type: 'release_group',
    name: 'Blue Train',
    about: 'John Coltrane · 1957',
    url: 'https://forum.example.org/t/17',
    origin: 'operator',
    version: expect.any(Number),
  });
  const items = await scanTable();
  expect(items.filter(({ sk }) => sk === 'ADDRESS')).toMatchObject([{ user_id: maria }]);
  const jonas = items.find(({ display_name }) => display_name === 'Jonas');
  expect(jonas).toMatchObject({ created: '2019-06-30T16:30:00.000Z', karma: 0 });
  expect(await readItem({ pk: `USER#${maria}`, sk: 'USER' })).toMatchObject({ karma: 1 });
  await expectRight();
  const again = await ask(['import', file(membersFile())], dataDir);
  expect(again).toMatchObject({ written: {}, present: written });
});

test('a refused line is named with its field and what would be right', async () => {
  const bad = membersFile().replace('"language":"en"', '"language":"english"');
  const { said, exitCode } = await importBroken(bad, (await emptyTable()).dataDir);
  expect(exitCode).toBe(1);
  expect(said).toContain('line 5: language: must be an ISO 639-1 code, in lower case');
});

/** A line of the file of the guide, with other fields. */
const but = (line: string, fields: object) => JSON.stringify({ ...JSON.parse(line), ...fields });
const first = JSON.parse(review).revisions[0];
const aTime = 'must be a time in ISO 8601 with its zone, such as 2019-05-01T00:00:00Z';

describe('a line by hand', () => {
  test.each([
    ['a missing time', review, { created: undefined }, `created: is missing: it ${aTime}`],
    ['a day alone', review, { created: '2019-05-01' }, `created: ${aTime}`],
    ['no zone', vote, { voted_at: '2019-05-01T00:00:00' }, `voted_at: ${aTime}`],
    [
      'no such day',
      vote,
      { voted_at: '2019-02-30T00:00:00Z' },
      'voted_at: must be a time that exists',
    ],
    [
      'no such hour',
      vote,
      { voted_at: '2019-02-28T25:00:00Z' },
      'voted_at: must be a time that exists',
    ],
    ['a number as id', review, { id: 17 }, 'id: must be a UUID'],
    ['an id in capitals', review, { id: maria.toUpperCase() }, 'id: must be a UUID in lower case'],
    ['no author', review, { user_id: undefined }, 'user_id: is missing: it must be a UUID'],
    ['a word for a vote', vote, { vote: 'up' }, 'vote: must be true for an upvote, or false'],
    ['a word for hidden', review, { is_hidden: 'no' }, 'is_hidden: must be true or false'],
    ['no revisions', review, { revisions: undefined }, 'revisions: is missing: it must be a list'],
    ['revisions that are none', review, { revisions: 'x' }, 'revisions: must be a list'],
    [
      'empty',
      review,
      { revisions: [{ id: 1, timestamp: first.timestamp }] },
      'revisions.0: must have a text or a rating',
    ],
    [
      'no time inside',
      review,
      { revisions: [{ ...first, timestamp: undefined }] },
      `revisions.0.timestamp: is missing: it ${aTime}`,
    ],
    [
      'a text that is none',
      review,
      { revisions: [{ ...first, text: 7 }] },
      'revisions.0.text: must be string',
    ],
    [
      'no address',
      lines[1] ?? '',
      { contact: { email_verified: true } },
      'contact: must have one email address in email if email_verified is true',
    ],
    [
      'no name',
      lines[1] ?? '',
      { display_name: undefined },
      'display_name: is missing: it must be string',
    ],
    ['no name of a thing', thing, { name: undefined }, 'name: is missing: it must be a string'],
    [
      'an unknown type',
      thing,
      { entity_type: 'film' },
      'entity_type: must be one of event, place, release_group, work, artist, label, recording, bk_edition_group, bk_literary_work, bk_author, bk_series, or a type of OWN_TYPES, with which the service must be started',
    ],
    ['a number of a thing', thing, { entity_id: '17' }, 'entity_id: must be a UUID'],
    [
      'a name that advertises',
      thing,
      { name: 'Buy at https://shop.example/' },
      'name: must not contain an address of a website',
    ],
    [
      'a picture in the clear',
      thing,
      { image: 'http://pictures.example/1.jpg' },
      'image: must be the whole https address of a picture',
    ],
    [
      'a page that is none',
      thing,
      { url: 'forum' },
      'url: must be the whole address of a page, as https://example.org/page',
    ],
  ])('with %s is told so', (_, line, fields, expected) => {
    expect(parseRecord(but(line, fields))).toBe(expected);
  });

  test.each([
    ['2019-05-01T00:00Z', '2019-05-01T00:00:00.000Z'],
    ['2019-05-01T00:00:00.123456+02:00', '2019-04-30T22:00:00.123Z'],
    ['2020-02-29T23:59:59-01:00', '2020-03-01T00:59:59.000Z'],
  ])('may have the time %s', (time, stored) => {
    expect(parseRecord(but(vote, { voted_at: time }))).toMatchObject({ voted_at: stored });
  });

  test('may leave out what has a default', () => {
    const { source, source_url, ...some } = JSON.parse(review);
    const revisions = [{ id: 1, rating: 3, timestamp: first.timestamp }];
    expect(parseRecord(JSON.stringify({ ...some, revisions }))).toMatchObject({
      is_hidden: false,
      source: null,
      source_url: null,
      revisions: [{ text: null, rating: 3 }],
    });
    expect(parseRecord(but(vote, { revision: undefined }))).toMatchObject({ revision: 1 });
    expect(parseRecord(but(lines[2] ?? '', {}))).toMatchObject({ contact: null });
  });
});
