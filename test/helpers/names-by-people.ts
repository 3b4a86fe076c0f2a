import { randomUUID } from 'node:crypto';
import type { EntityType } from '../../shared/core/entity/entity-type.ts';
import { type Entity, type EntityRecord, readRecord } from '../../shared/core/entity/record.ts';
import type { Decision } from '../../shared/core/report/decision.ts';
import { listDecisions } from '../../shared/core/report/decision-log.ts';
import { filledForm, publishForm } from './review-form.ts';
import { ask } from './visit.ts';
import { newWork, type Person } from './world.ts';

/** Lets a person review a new thing, and name it in the same form. */
export async function reviewNew(
  person: Person,
  words: { name: string; about?: string; url?: string },
  entity_type: EntityType = 'work',
): Promise<Entity> {
  const entity = { entity_id: randomUUID(), entity_type };
  const { status, html } = await publishForm(person, { ...entity }, filledForm(words));
  if (status !== 303) throw new Error(`${status}: ${html}`);
  return entity;
}

/** Sends the form to name something, with the version that it shows. */
export async function correct(
  person: Person,
  { entity_id, entity_type }: Entity,
  form: Record<string, string>,
) {
  const { version } = (await readRecord({ entity_id, entity_type })) ?? {};
  return ask('save-naming', person, {
    path: { entity_id },
    query: { entity_type },
    form: { seen: `${version ?? ''}`, ...form },
  });
}

/** Lets a person name something that nobody has reviewed. */
export async function nameNew(person: Person, words: { name: string; about?: string }) {
  const entity = newWork();
  const { status, html } = await correct(person, entity, words);
  if (status !== 303) throw new Error(`${status}: ${html}`);
  return entity;
}

/** Sends the decision of a moderator on a proposal, as the desk shows it. */
export async function decideName(
  moderator: Person,
  entity: Entity,
  proposer: Person,
  decision: 'accept' | 'decline',
) {
  const at = { path: { entity_id: entity.entity_id }, query: { entity_type: entity.entity_type } };
  const { html } = await ask('show-thing', moderator, at);
  const section = html.split('<form').find((each) => each.includes(`value="${proposer.id}"`));
  const shownIn = (name: string) =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(section ?? '')?.[1];
  const names = ['proposed_at', 'seen'];
  const shown = Object.fromEntries(names.map((name) => [name, shownIn(name) ?? '']));
  return ask('decide-proposal', moderator, {
    ...at,
    form: { ...shown, user_id: proposer.id, decision },
  });
}

/** The words of a record that people read. */
export async function wordsOf(entity: Entity): Promise<Partial<EntityRecord>> {
  const { name, about, url, origin, user_id } = (await readRecord(entity)) ?? {};
  return { name, about, url, origin, user_id };
}

/** The entries of the log on a thing, the newest first. */
export async function logOf({ entity_id }: Entity): Promise<Decision[]> {
  const { decisions } = await listDecisions(1000);
  return decisions.filter((each) => each.entity_id === entity_id);
}
