import { randomUUID } from 'node:crypto';
import type { EntityType } from '../../shared/core/entity/entity-type.ts';
import { type Entity, type EntityRecord, readRecord } from '../../shared/core/entity/record.ts';
import { ask, pageFor } from './visit.ts';
import type { Person } from './world.ts';

// Things that people add and moderators decide on, by the forms of the pages.

const film = 'film' as EntityType;

/** Adds a film as a person. The test file needs `OWN_TYPES` with it. */
export async function addFilm(person: Person, name: string, more: Record<string, string> = {}) {
  const entity: Entity = { entity_id: randomUUID(), entity_type: film };
  const answer = await ask('add-entity', person, { form: { ...entity, name, ...more } });
  return { entity, answer };
}

/** Returns the state of a thing, as its record has it. */
export async function stateOf(entity: Entity): Promise<Partial<EntityRecord>> {
  const { state, same_as, leads_to, led_from } = (await readRecord(entity)) ?? {};
  return { state, same_as, leads_to, led_from };
}

/** Sends the form of a moderator on a thing, which has the version of now. */
export async function decideThing(
  moderator: Person,
  { entity_id, entity_type }: Entity,
  form: Record<string, string>,
) {
  const seen = `${(await readRecord({ entity_id, entity_type }))?.version ?? ''}`;
  const request = { path: { entity_id }, query: { entity_type }, form: { seen, ...form } };
  return ask('decide-thing', moderator, request);
}

/** The page of a thing as a person sees it. */
export async function thingFor(person: Person, { entity_id, entity_type }: Entity) {
  return pageFor('show-entity', person, { path: { entity_id }, query: { entity_type } });
}
