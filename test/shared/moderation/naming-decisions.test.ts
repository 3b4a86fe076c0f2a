import type { EntityRecord } from '../../../shared/entity/record.ts';
import { recordOf } from '../../../shared/moderation/naming.ts';
import {
  acceptedChange,
  type NamedState,
  type Outcome,
  outcomeOf,
  personToTell,
  refuseUnseen,
  undoingChange,
} from '../../../shared/moderation/naming-decisions.ts';

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
  const nobody = { isReviewedByOthers: false };
  const others = { isReviewedByOthers: true };

  test.each<[string, NamedState, Partial<EntityRecord>, string, typeof ann, Outcome]>([
    ['a first name', { record: undefined, ...nobody }, {}, '', ann, 'named'],
    ['a first name with others', { record: undefined, ...others }, {}, '', ann, 'named'],
    ['one’s own name', { record: ofAnn, ...nobody }, { name: 'Blue' }, '', ann, 'named'],
    ['one’s own, reviewed', { record: ofAnn, ...others }, { name: 'Blue' }, '', ann, 'proposed'],
    ['that of another', { record: ofBen, ...nobody }, { name: 'Blue' }, '', ann, 'proposed'],
    ['of a database', { record: ofDatabase, ...nobody }, { name: 'Blue' }, '', ann, 'named'],
    ['that, reviewed', { record: ofDatabase, ...others }, { name: 'Blue' }, '', ann, 'proposed'],
    ['another line', { record: ofBen, ...nobody }, { about: '1958' }, '', ann, 'proposed'],
    [
      'an address',
      { record: ofBen, ...nobody },
      { url: 'https://a.example/' },
      '',
      ann,
      'proposed',
    ],
    ['by a moderator', { record: ofBen, ...others }, { name: 'Blue' }, '', mia, 'named'],
    ['nothing', { record: ofBen, ...nobody }, {}, '', ann, 'same'],
    ['nothing, by a moderator', { record: ofBen, ...others }, {}, '', mia, 'same'],
    ['a note alone', { record: ofAnn, ...nobody }, {}, 'An insult', ann, 'proposed'],
    ['a note by a moderator', { record: ofBen, ...others }, {}, 'An insult', mia, 'proposed'],
  ])('%s', (_, state, changed, note, namer, outcome) => {
    const record = recordBy(namer.id, changed);
    expect(outcomeOf(state, { record, note, seen: state.record?.version }, namer)).toBe(outcome);
  });

  test.each([
    ['a record that was named since', undefined, ofBen],
    ['another version', 6, ofBen],
    ['a record that is gone', 7, undefined],
  ])('is refused after %s', (_, seen, record) => {
    const wanted = { record: recordBy('ann', { name: 'Blue' }), note: '', seen };
    for (const namer of [ann, mia]) {
      expect(() => outcomeOf({ record, ...nobody }, wanted, namer)).toThrow(
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
  const written = { ...entity, ...by, image: before.image };

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

  test('has its words alone if it is the first', () => {
    const record = recordOf(entity, { name: 'Blue', about: '1957' }, by);
    expect(record).toEqual({ ...entity, ...by, name: 'Blue', about: '1957' });
  });
});

describe('a proposal', () => {
  const proposal = { ...entity, user_id: 'ben', name: 'Blue', note: '', proposed_at: earlier };
  const record = recordBy('ann');
  const open = { proposal, record };

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
    expect(acceptedChange(open, now)).toEqual({
      before: record,
      after: {
        ...entity,
        name: 'Blue',
        origin: 'member',
        user_id: 'ben',
        written_at: now.toISOString(),
      },
    });
  });

  test.each([
    ['the words of now', { ...proposal, name: 'Bleu', about: '1957' }, record],
    ['something without a name', proposal, undefined],
  ])('of %s cannot be accepted', (_, same, current) => {
    expect(() => acceptedChange({ proposal: same, record: current }, now)).toThrow(
      'The proposal changes nothing',
    );
  });
});

describe('an undone correction', () => {
  const before = { name: 'Bleu', about: '1957', origin: 'member', user_id: 'ann' } as const;
  const after = { name: 'Blue', origin: 'moderator', user_id: 'mia' } as const;
  const correction = { ...entity, before, after };
  const current = { ...entity, ...after, version: 9, written_at: earlier };
  const written_at = now.toISOString();

  test('restores all words and their author', () => {
    expect(undoingChange(correction, current, now)).toEqual({
      before: current,
      after: { ...entity, ...before, written_at },
    });
  });

  test.each(['musicdb', 'bookdb', undefined] as const)(
    'is due for a renewal if the words are of a database: %s',
    (origin) => {
      const words = { name: 'Bleu', by: 'A', year: '1957', about: 'A · 1957', origin };
      const undone = undoingChange({ ...correction, before: words }, current, now);
      expect(undone.after).toEqual({ ...entity, ...words, written_at, due_at: now.getTime() });
    },
  );

  test.each(['member', 'moderator', 'operator'] as const)(
    'is never due if the words are of a person: %s',
    (origin) => {
      const undone = undoingChange({ ...correction, before: { ...before, origin } }, current, now);
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
    expect(() => undoingChange(correction, record, now)).toThrow('has been corrected again since');
  });

  test('does not mind who wrote the same words since', () => {
    const record = { ...current, user_id: 'ben', origin: 'member' } as const;
    expect(undoingChange(correction, record, now).after.name).toBe('Bleu');
  });
});

describe('the person who reads that a name was corrected', () => {
  test.each([
    ['gave it', recordBy('ann'), ['mia'], 'ann'],
    ['did not correct it', recordBy('ann'), ['ann', null], undefined],
    ['is nobody if a database gave it', recordBy(undefined), ['mia'], undefined],
    ['is nobody if it is the first name', undefined, ['ann'], undefined],
    ['reads of the operator too', recordBy('ann'), [null], 'ann'],
  ])('%s', (_, replaced, writers, expected) => {
    expect(personToTell(replaced, writers)).toBe(expected);
  });
});
