import * as v from 'valibot';
import { type EntityType, groupOf } from '../../shared/core/entity/entity-type.ts';
import { pageOf } from '../../shared/core/entity/metadata-provider.ts';
import { type Entity, type Origin, recordWrites } from '../../shared/core/entity/record.ts';
import { writeRecords } from '../../shared/core/entity/write-records.ts';
import { Described } from '../../shared/features/databases/answer.ts';
import { scanTable, setAttributes } from './items.ts';
import { applyStream } from './stream.ts';
import type { Person } from './world.ts';

/** Stores what the music or book database has said about entities, by id: a name, or an answer. */
export async function nameEntities(
  answers: Readonly<Record<string, string | object>>,
  entity_type: EntityType = 'release_group',
): Promise<void> {
  const group = groupOf(entity_type);
  const page = `https://${group === 'bookdb' ? 'books' : 'music'}.example/{type}/{id}`;
  process.env[`${group.toUpperCase()}_PAGE`] = page;
  const records = Object.entries(answers).map(([entity_id, answer]) => ({
    entity_id,
    entity_type,
    ...v.parse(Described, typeof answer === 'string' ? { name: answer } : answer),
    url: pageOf({ page }, entity_type, entity_id),
    origin: group as Origin,
    written_at: new Date().toISOString(),
    due_at: Date.now() + 86_400_000,
  }));
  await writeRecords(records.map((record) => recordWrites(undefined, record)));
}

/** Takes all entities out of the queues of names, so that a test meets no others than its own. */
export async function emptyQueues(): Promise<void> {
  for (const { pk, sk, all } of await scanTable()) {
    if (`${all}`.startsWith('DUE#')) await setAttributes({ pk, sk }, { all: 'NEVER' });
  }
}

/** Lets a person review entities, which the stream then puts into the queues of names. */
export async function reviewAll(person: Person, entities: readonly Entity[]): Promise<void> {
  for (const entity of entities) await person.publishes({ ...entity });
  await applyStream();
}
