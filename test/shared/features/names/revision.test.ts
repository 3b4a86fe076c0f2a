import { type EntityRecord, recordKey } from '../../../../shared/core/entity/record.ts';
import { recordOf } from '../../../../shared/features/names/naming.ts';
import { acceptedRevision, refuseUnseen } from '../../../../shared/features/names/proposal.ts';
import {
  type Outcome,
  outcomeOf,
  type Revision,
  replacedBy,
  revert,
  shownRecord,
} from '../../../../shared/features/names/revision.ts';

const now = new Date('2026-11-22T12:00:00.000Z');
const earlier = '2026-11-01T12:00:00.000Z';
const entity = { entity_id: 'e', entity_type: 'work' } as const;

const recordBy = (user_id: string | undefined, changed: Partial<EntityRecord> = {}) => ({
  ...entity,
  name: 'Bleu',
  about: '1957',
  origin: user_id === undefined ? ('musicdb' as const) : ('member' as const),
  user_id,
  version: 7,
  ...changed,
});

const ann = { id: 'ann', is_moderator: false };
const mia = { id: 'mia', is_moderator: true };

describe('a correction', () => {
  const ofDatabase = recordBy(undefined);
  const ofAnn = recordBy('ann');
  const ofBen = recordBy('ben');
  const waiting = (record: EntityRecord) => ({ ...record, state: 'waiting' as const });
  const removed = { ...ofAnn, state: 'removed' as const };
  const free = { isReviewedByOthers: false, isHeld: false };
  const reviewed = { ...free, isReviewedByOthers: true };
  const held = { ...free, isHeld: true };
  const blue = { name: 'Blue' };

  const ofOperator = recordBy(undefined, { origin: 'operator' });
  const ofLeaver = recordBy(undefined, { origin: 'member' });

  test.each<
    [string, EntityRecord | undefined, typeof free, Partial<EntityRecord>, typeof ann, Outcome]
  >([
    ['a first name', undefined, free, {}, ann, 'named'],
    ['a first name with others', undefined, reviewed, {}, ann, 'named'],
    ['a first name that will wait', undefined, held, {}, ann, 'named'],
    ['one’s own name', ofAnn, free, blue, ann, 'named'],
    ['one’s own, reviewed', ofAnn, reviewed, blue, ann, 'proposed'],
    ['one’s own, public, if held', ofAnn, held, blue, ann, 'proposed'],
    ['one’s own that waits', waiting(ofAnn), held, blue, ann, 'named'],
    ['that of another', ofBen, free, blue, ann, 'proposed'],
    ['that of another, waiting', waiting(ofBen), free, blue, ann, 'named'],
    ['the same, if held', waiting(ofBen), held, blue, ann, 'proposed'],
    ['of an operator', ofOperator, free, blue, ann, 'proposed'],
    ['of a person who has left', ofLeaver, free, blue, ann, 'proposed'],
    ['of a database', ofDatabase, free, blue, ann, 'proposed'],
    ['of a database, reviewed', ofDatabase, reviewed, blue, ann, 'proposed'],
    ['what was removed', removed, free, blue, ann, 'proposed'],
    ['the words that were removed', removed, free, {}, ann, 'proposed'],
    ['another line', ofBen, free, { about: '1958' }, ann, 'proposed'],
    ['an address', ofBen, free, { url: 'https://a.example/' }, ann, 'proposed'],
    ['by a moderator', ofBen, reviewed, blue, mia, 'named'],
    ['of a removed one by a moderator', removed, free, blue, mia, 'named'],
    ['nothing', ofBen, free, {}, ann, 'same'],
    ['nothing, by a moderator', ofBen, reviewed, {}, mia, 'same'],
  ])('%s', (_, before, situation, changed, namer, outcome) => {
    const wanted = { record: recordBy(namer.id, changed), note: '' };
    const seen = shownRecord(before, namer)?.version;
    expect(outcomeOf({ record: before, ...situation }, { ...wanted, seen }, namer)).toBe(outcome);
  });

  test.each([
    ['a person', ann, ofAnn],
    ['a moderator', mia, ofBen],
  ])('is proposed by %s with a note alone', (_, namer, before) => {
    const wanted = { record: recordBy(namer.id), note: 'An insult', seen: before.version };
    expect(outcomeOf({ record: before, ...free }, wanted, namer)).toBe('proposed');
  });

  test.each<[string, EntityRecord, typeof ann, boolean]>([
    ['a public name', ofBen, ann, true],
    ['an own name that waits', waiting(ofAnn), ann, true],
    ['another name that waits', waiting(ofBen), ann, false],
    ['what was removed', removed, ann, false],
    ['another name that waits', waiting(ofBen), mia, true],
    ['what was removed', removed, mia, true],
  ])('is shown %s: %#', (_, record, person, isShown) => {
    expect(shownRecord(record, person)).toBe(isShown ? record : undefined);
  });

  test.each([
    ['a record that was named since', undefined, ofBen],
    ['another version', 6, ofBen],
    ['a record that is gone', 7, undefined],
  ])('is refused after %s', (_, seen, record) => {
    const wanted = { record: recordBy('ann', { name: 'Blue' }), note: '', seen };
    for (const namer of [ann, mia]) {
      expect(() => outcomeOf({ record, ...free }, wanted, namer)).toThrow(
        expect.objectContaining({ status: 412 }),
      );
    }
  });
});

describe('the record that a person writes', () => {
  const before = recordBy(undefined, {
    by: 'John Coltrane',
    year: '1957',
    image: 'https://a.example/cover.jpg',
    url: 'https://a.example/',
    due_at: 5,
    expires_at: 6,
  });
  const by = { origin: 'member', user_id: 'ann', written_at: now.toISOString() } as const;
  const written = { ...entity, ...by, image: before.image, due_at: now.getTime() };

  test.each<[string, Pick<EntityRecord, 'name' | 'about' | 'url'>, Partial<EntityRecord>]>([
    [
      'keeps artist and year with the same line',
      { name: 'Blue', about: '1957' },
      { name: 'Blue', about: '1957', by: 'John Coltrane', year: '1957' },
    ],
    [
      'loses them with another line',
      { name: 'Bleu', about: '1958' },
      { name: 'Bleu', about: '1958' },
    ],
    ['loses them without a line', { name: 'Blue' }, { name: 'Blue' }],
    [
      'has the new address',
      { name: 'Bleu', url: 'https://b.example/' },
      { name: 'Bleu', url: 'https://b.example/' },
    ],
  ])('%s', (_, naming, expected) => {
    expect(recordOf(entity, naming, by, before)).toEqual({ ...written, ...expected });
  });

  test.each([
    ['a member of a work', 'work', { origin: 'member' }, now.getTime()],
    ['a member, waiting', 'work', { origin: 'member', state: 'waiting' }, now.getTime()],
    ['a member, accepted', 'work', { origin: 'member', is_confirmed: true }, undefined],
    ['a moderator', 'work', { origin: 'moderator' }, undefined],
    ['the operator', 'work', { origin: 'operator' }, undefined],
  ] as const)('by %s is due or settled', (_, entity_type, writer, due_at) => {
    const words = { ...by, ...writer };
    expect(recordOf({ ...entity, entity_type }, { name: 'Blue' }, words).due_at).toBe(due_at);
  });

  test('keeps what it leads to, and what leads to it', () => {
    const links = { same_as: 'a', leads_to: 'b', led_from: ['c'] };
    expect(recordOf(entity, { name: 'Blue' }, by, recordBy('ann', links))).toMatchObject(links);
  });

  test('has its words alone if it is the first', () => {
    const record = recordOf(entity, { name: 'Blue', about: '1957' }, by);
    const due_at = now.getTime();
    expect(record).toEqual({ ...entity, ...by, name: 'Blue', about: '1957', due_at });
  });
});

describe('a proposal', () => {
  const proposal = { ...entity, user_id: 'ben', name: 'Blue', note: '', proposed_at: earlier };
  const record = recordBy('ann');
  const open = { proposal, record };
  const words = { name: 'Bleu', about: '1957' };

  test.each([
    ['the proposal', { proposed_at: now.toISOString(), version: 7 }],
    ['the name', { proposed_at: earlier, version: 6 }],
    ['the first name', { proposed_at: earlier, version: undefined }],
  ])('is not decided if %s has changed since it was seen', (_, seen) => {
    expect(() => refuseUnseen(open, seen)).toThrow('has changed since you opened this page');
  });

  test('is decided as it was seen', () => {
    expect(refuseUnseen(open, { proposed_at: earlier, version: 7 })).toBeUndefined();
    const unnamed = { proposal, record: undefined };
    expect(refuseUnseen(unnamed, { proposed_at: earlier, version: undefined })).toBeUndefined();
  });

  test('becomes the record, by the person who proposed it', () => {
    expect(acceptedRevision(open, now)).toEqual({
      decision: 'correct',
      before: record,
      after: {
        ...entity,
        name: 'Blue',
        origin: 'member',
        user_id: 'ben',
        written_at: now.toISOString(),
        is_confirmed: true,
      },
    });
  });

  test('brings back what was removed, also with the same words', () => {
    const removed = { ...record, ...words, state: 'removed' as const };
    const { after } = acceptedRevision(
      { proposal: { ...proposal, ...words }, record: removed },
      now,
    );
    expect(after).toMatchObject({ ...words, user_id: 'ben' });
    expect(after.state).toBeUndefined();
  });

  test.each([
    ['the words of now', { ...proposal, name: 'Bleu', about: '1957' }, record],
    ['something without a name', proposal, undefined],
  ])('of %s cannot be accepted', (_, same, current) => {
    expect(() => acceptedRevision({ proposal: same, record: current }, now)).toThrow(
      'The proposal changes nothing',
    );
  });
});

describe('an undone correction', () => {
  const before = { name: 'Bleu', about: '1957', origin: 'member', user_id: 'ann' } as const;
  const after = { name: 'Blue', origin: 'moderator', user_id: 'mia' } as const;
  const correction: Revision = { before, after: { ...entity, ...after } };
  const current = { ...entity, ...after, version: 9, written_at: earlier };
  const written_at = now.toISOString();

  test('restores all words and their author', () => {
    expect(revert(correction, current, now)).toEqual({
      decision: 'correct',
      before: current,
      // A moderator has chosen the name of the member.
      after: { ...entity, ...before, written_at, is_confirmed: true },
    });
  });

  test.each<[string, Partial<EntityRecord>, Partial<EntityRecord>, Partial<EntityRecord>]>([
    ['a removal', {}, { state: 'removed' }, {}],
    [
      'the removal of one that waited',
      { state: 'waiting' },
      { state: 'removed' },
      { state: 'waiting' },
    ],
    ['a confirmation', { state: 'waiting' }, { is_confirmed: true }, { state: 'waiting' }],
    ['a join', {}, { same_as: 'other' }, {}],
    ['a parting', { same_as: 'other' }, {}, { same_as: 'other' }],
  ])('restores the state before %s', (_, was, became, expected) => {
    const change = { before: { ...before, ...was }, after: { ...entity, ...before, ...became } };
    const record = { ...entity, ...before, ...became, version: 9, led_from: ['x'] };
    const { state, same_as, is_confirmed, led_from } = revert(change, record, now).after;
    expect({ state, same_as, is_confirmed, led_from }).toEqual({ ...expected, led_from: ['x'] });
  });

  test.each<[string, Partial<EntityRecord>, Partial<EntityRecord>, string]>([
    ['a removal', {}, { state: 'removed' }, 'return'],
    ['a return', { state: 'removed' }, {}, 'remove'],
    ['a join', {}, { same_as: 'other' }, 'return'],
    ['a parting', { same_as: 'other' }, {}, 'lead'],
    ['other words', {}, { name: 'Blue' }, 'correct'],
  ])('is in the log of %s by its own word', (_, was, became, word) => {
    const change = { before: { ...before, ...was }, after: { ...entity, ...before, ...became } };
    const record = { ...entity, ...before, ...became, version: 9 };
    expect(revert(change, record, now).decision).toBe(word);
  });

  test('leaves a state that it did not change', () => {
    const led = { ...current, same_as: 'other', leads_to: 'other' };
    expect(revert(correction, led, now).after).toMatchObject({
      name: 'Bleu',
      same_as: 'other',
      leads_to: 'other',
    });
  });

  test.each<[Partial<EntityRecord>, Partial<EntityRecord>]>([
    [{ state: 'removed' }, {}],
    [{ same_as: 'other' }, { same_as: 'third' }],
  ])('is refused if the state was changed since: %j, then %j', (became, later) => {
    const change = { before, after: { ...entity, ...before, ...became } };
    const record = { ...entity, ...before, ...later, version: 9 };
    expect(() => revert(change, record, now)).toThrow('has been changed again since');
  });

  test.each(['musicdb', 'bookdb', undefined] as const)(
    'is due for a renewal if the words are of a database: %s',
    (origin) => {
      const words = { name: 'Bleu', by: 'A', year: '1957', about: 'A · 1957', origin };
      const undone = revert({ ...correction, before: words }, current, now);
      expect(undone.after).toEqual({ ...entity, ...words, written_at, due_at: now.getTime() });
    },
  );

  test.each(['member', 'moderator', 'operator'] as const)(
    'is never due if the words are of a person: %s',
    (origin) => {
      const undone = revert({ ...correction, before: { ...before, origin } }, current, now);
      expect(undone.after.due_at).toBeUndefined();
    },
  );

  test.each<[string, Partial<EntityRecord> | undefined]>([
    ['has another name', { name: 'Azure' }],
    ['has a line', { about: '1958' }],
    ['has an address', { url: 'https://a.example/' }],
    ['is gone', undefined],
  ])('is refused if the record %s since', (_, changed) => {
    const record = changed && { ...current, ...changed };
    expect(() => revert(correction, record, now)).toThrow('has been changed again since');
  });

  test('does not mind who wrote the same words since', () => {
    const record = { ...current, user_id: 'ben', origin: 'member' } as const;
    expect(revert(correction, record, now).after.name).toBe('Bleu');
  });
});

describe('what others had written before the last words of a person', () => {
  // A and B are persons, and none is no record.
  const named = (name: string) =>
    name === 'none' ? undefined : { name, user_id: name.startsWith('A') ? 'ann' : 'ben' };

  // The newest change first, as in the log.
  test.each<[string, string[], string]>([
    ['a first name', ['none A1'], 'none'],
    ['own words over own words', ['A1 A2', 'none A1'], 'none'],
    ['own words over those of another', ['B1 A1'], 'B1'],
    ['words before and after another', ['B1 A3', 'A1 A2', 'none A1'], 'B1'],
    ['own words over own ones after another', ['A3 A4', 'B1 A3', 'none A1'], 'B1'],
    ['words after another and before a third', ['B2 A2', 'B1 A1'], 'B2'],
    ['own words whose first name no log has', ['A2 A3', 'A1 A2'], 'none'],
    ['words that no log has', [], 'none'],
  ])('%s', (_, changes, before) => {
    const revisions = changes.map((change) => {
      const [from = '', to = ''] = change.split(' ');
      return { before: named(from), after: { ...entity, ...named(to) } };
    });
    const replaced = replacedBy('ann', revisions as Revision[]);
    expect(replaced.get(recordKey(entity).pk)).toEqual(named(before));
  });

  test('is another for each thing', () => {
    const other = { ...entity, entity_id: 'other' };
    const revisions = [
      { before: named('B1'), after: { ...entity, name: 'A1' } },
      { before: named('B2'), after: { ...other, name: 'A2' } },
    ];
    const replaced = replacedBy('ann', revisions as Revision[]);
    expect([entity, other].map((each) => replaced.get(recordKey(each).pk)?.name)).toEqual([
      'B1',
      'B2',
    ]);
  });
});
