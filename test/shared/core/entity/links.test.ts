import { describe, expect, test } from '@jest/globals';
import {
  joinChanges,
  mostLed,
  partChanges,
  type RecordChange,
} from '../../../../shared/core/entity/links.ts';
import type { EntityRecord } from '../../../../shared/core/entity/record.ts';
import { choices } from '../../../helpers/choices.ts';

type Things = Map<string, EntityRecord>;

const ids = [...'abcdefgh'];

function makeThings(names: readonly string[] = ids): Things {
  const record = (entity_id: string) =>
    ({ entity_id, entity_type: 'work', name: entity_id }) as const;
  return new Map(names.map((id) => [id, record(id)]));
}

const at = (things: Things, id = '') => things.get(id) as EntityRecord;

/** Joins or parts a thing as the service does, and returns the changed records. */
function change(things: Things, id: string, same_as: string | undefined): RecordChange[] {
  const record = at(things, id);
  const other = at(things, same_as ?? record.leads_to);
  const end = other.leads_to === undefined ? other : at(things, other.leads_to);
  const led = [...(record.led_from ?? []), ...(end.led_from ?? [])].map((each) => at(things, each));
  const decide = same_as === undefined ? partChanges : joinChanges;
  const changes = decide({ record, end, led }, { ...record, same_as });
  for (const { before, after } of changes) {
    expect(at(things, after.entity_id)).toBe(before);
    things.set(after.entity_id, after);
  }
  return changes;
}

/** Follows what moderators have chosen, one thing after the other. */
function endOf(chosen: ReadonlyMap<string, string>, id: string): string {
  const next = chosen.get(id);
  return next === undefined ? id : endOf(chosen, next);
}

/** Returns where each thing leads, and what leads to it, as `chosen` says. */
function expectedOf(chosen: ReadonlyMap<string, string>) {
  return ids.map((id) => {
    const end = endOf(chosen, id);
    const led = ids.filter((each) => each !== id && endOf(chosen, each) === id);
    return [id, end === id ? undefined : end, led.toSorted()];
  });
}

const linksOf = (things: Things) =>
  ids.map((id) => {
    const { leads_to, led_from = [] } = at(things, id);
    return [id, leads_to, led_from.toSorted()];
  });

describe('things that are the same', () => {
  test('lead to the end of a chain, and back to where they led before', () => {
    const things = makeThings();
    change(things, 'a', 'b');
    change(things, 'b', 'c');
    expect(at(things, 'a')).toMatchObject({ same_as: 'b', leads_to: 'c' });
    expect(at(things, 'c').led_from?.toSorted()).toEqual(['a', 'b']);
    change(things, 'd', 'a');
    expect(at(things, 'd').leads_to).toBe('c');
    change(things, 'b', undefined);
    expect(at(things, 'a').leads_to).toBe('b');
    expect(at(things, 'd').leads_to).toBe('b');
    expect(at(things, 'c').led_from).toBeUndefined();
  });

  test.each([
    ['itself', [], 'a', 'a'],
    ['what leads to it', [['b', 'a']], 'a', 'b'],
    [
      'the beginning of a chain to it',
      [
        ['b', 'a'],
        ['c', 'b'],
      ],
      'a',
      'c',
    ],
  ])('never lead to %s', (_, before: string[][], id, other) => {
    const things = makeThings();
    for (const [from = '', to] of before) change(things, from, to);
    expect(() => change(things, id, other)).toThrow('A thing cannot lead to itself');
  });

  test('are so many at most, whatever joins them', () => {
    const many = Array.from({ length: mostLed + 2 }, (_, i) => `thing ${i}`);
    const things = makeThings(many);
    for (const id of many.slice(1, mostLed + 1)) change(things, id, many[0]);
    expect(() => change(things, many.at(-1) ?? '', many[0])).toThrow(
      'At most 10 things lead to one',
    );
    expect(() => change(things, many[0] ?? '', many.at(-1))).toThrow(
      'At most 10 things lead to one',
    );
  });

  test('are as moderators have chosen, after any joins and partings', () => {
    const { pick } = choices(Number(process.env.SEED ?? 54));
    for (let history = 0; history < 200; history++) {
      const things = makeThings();
      const chosen = new Map<string, string>();
      for (let step = 0; step < 30; step++) {
        const id = pick(ids);
        const other = pick(ids.filter((each) => each !== id));
        if (chosen.has(id)) {
          change(things, id, undefined);
          chosen.delete(id);
        } else if (endOf(chosen, other) !== id) {
          change(things, id, other);
          chosen.set(id, other);
        }
        // As text, because Jest takes 1 ms to compare them.
        expect(JSON.stringify(linksOf(things))).toBe(JSON.stringify(expectedOf(chosen)));
      }
    }
  });
});
