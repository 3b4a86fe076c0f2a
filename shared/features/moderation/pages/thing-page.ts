// The page of a thing for moderators: its name, what people want to correct, and its state.

import { html } from 'hono/html';
import { notFound } from '../../../base/errors.ts';
import { getItem } from '../../../base/table/query.ts';
import { nameOfEntity, nameOfEntityType } from '../../../core/entity/entity-type.ts';
import { findMetadata, type KnownEntity, knownEntity } from '../../../core/entity/metadata.ts';
import { readPasted } from '../../../core/entity/pasted.ts';
import {
  type Entity,
  type EntityRecord,
  isByDatabase,
  isSettled,
  readRecord,
} from '../../../core/entity/record.ts';
import { entityKey } from '../../../core/keys.ts';
import { countsIn } from '../../../core/review/owner-counts.ts';
import type { User } from '../../../core/user/user.ts';
import { findUsers } from '../../../core/user/user-repository.ts';
import { entityLine, linkToThing } from '../../../pages/entity/named-entity.ts';
import { checkbox, radios } from '../../../pages/form/choices.ts';
import { blank, type FormState, faultOf, field } from '../../../pages/form/fields.ts';
import { csrfField, type Html, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { counted, minuteOf } from '../../../pages/frame/words.ts';
import { findProposals, mostHidden } from '../../names/public.ts';
import { findThings, namingUrl, recordUrl } from '../../things/public.ts';
import { linkTo, requireModerator, whyFields } from './moderation.ts';
import { proposalEntry } from './names-page.ts';

/** Most characters of what a moderator searches for. */
const longestSearch = 200;

/** Everything that the page tells. */
interface Thing {
  entity: Entity;
  record: EntityRecord;
  /** Public reviews of its type. */
  reviews: number;
  /** The thing that it leads to. */
  other: KnownEntity | undefined;
}

/**
 * The page, with the things that `q` finds. Throws ApiError 404 for anyone but moderators, and for
 * what has neither a name nor a proposed one.
 */
export async function thingPage(
  entity: Entity,
  visitor: Visitor,
  { filled = blank, q = '' }: { filled?: FormState; q?: string } = {},
): Promise<Page> {
  requireModerator(visitor);
  const [record, item, proposals] = await Promise.all([
    readRecord(entity),
    getItem(entityKey(entity.entity_id)),
    findProposals(entity),
  ]);
  if (!record && proposals.length === 0) throw notFound('Name');
  const [users, other, found] = await Promise.all([
    findUsers([record, ...proposals].flatMap((each) => each?.user_id ?? [])),
    findThing(entity, record?.leads_to),
    findOthers(entity, q || (record?.merged_into ?? '')),
  ]);
  const known = record ? knownEntity(record) : null;
  const title = nameOfEntity(entity, known);
  const reviews = countsIn(item).types.get(entity.entity_type) ?? 0;
  const thing = record && { entity, record, reviews, other };
  return {
    title: `The name: ${title}`,
    heading: html`The name: <bdi>${title}</bdi>`,
    content: html`${faultOf(filled)}
      <section>
        ${entityLine(entity, known)}
        ${thing && facts(thing, users)}
        <p><a href="${namingUrl(entity)}">Change the name</a></p>
      </section>
      ${proposals.map((proposal) => html`<section>${proposalEntry({ proposal, record }, users, visitor.csrf)}</section>`)}
      ${thing && decisionsOn(thing, visitor, { filled, q, found })}`,
  };
}

/** The forms to decide on a thing with a name. */
function decisionsOn(
  thing: Thing,
  visitor: Visitor,
  { filled, q, found }: { filled: FormState; q: string; found: readonly KnownEntity[] },
) {
  const formOf = (decision: string, content: Html) => form(thing, visitor, decision, content);
  const stateOfForm = (decision: string) => (filled.values.decision === decision ? filled : blank);
  return html`${confirmation(thing, formOf)}
      ${returning(thing, formOf)}
      ${removal(thing, formOf, stateOfForm('remove'))}
      ${joining(thing, { q, found, formOf, filled: stateOfForm('lead') })}`;
}

async function findThing(
  { entity_type }: Entity,
  entity_id: string | undefined,
): Promise<KnownEntity | undefined> {
  if (entity_id === undefined) return undefined;
  const [known] = await findMetadata([{ entity_type, entity_id }]);
  return known ?? undefined;
}

/** Finds other things of the type: by a name, or the one with an id or address. */
async function findOthers(entity: Entity, q: string): Promise<KnownEntity[]> {
  const text = q.trim().slice(0, longestSearch);
  if (text === '') return [];
  const pasted = readPasted(text);
  const found = pasted
    ? [(await findThing(entity, pasted.id)) ?? []].flat()
    : (await findThings(text, { type: entity.entity_type })).things.map(({ record }) =>
        knownEntity(record),
      );
  return found.filter(({ id }) => id !== entity.entity_id);
}

function facts({ record, reviews, other }: Thing, users: ReadonlyMap<string, User>) {
  const { user_id, written_at, led_from = [] } = record;
  const by = isByDatabase(record) ? 'a database' : linkTo(user_id ?? '', users);
  return html`<dl>
    <dt>State</dt><dd>${stateOf(record)}</dd>
    <dt>Named</dt><dd>${record.origin === 'operator' ? 'by the operator' : html`by ${by}`}${written_at && html`, ${minuteOf(written_at)}`}</dd>
    <dt>Reviews</dt><dd>${reviews} public</dd>
    ${other && html`<dt>The same as</dt><dd>${linkToThing(other)}</dd>`}
    ${led_from.length > 0 && html`<dt>Others lead here</dt><dd>${led_from.map((entity_id) => html`<a href="${recordUrl({ ...record, entity_id })}"><code>${entity_id}</code></a><br>`)}</dd>`}
  </dl>`;
}

function stateOf(record: EntityRecord): string {
  if (record.state === 'waiting') return 'Waits: only its author and moderators read the name';
  if (record.state === 'removed') return 'Removed: it has no name for others';
  if (record.leads_to !== undefined) return 'Leads to another thing';
  return isSettled(record) ? 'Public' : 'Public, until a database knows it by another name';
}

type FormOf = (decision: string, content: Html) => Html;

/** A form with what the moderator has seen. */
function form({ entity, record }: Thing, { csrf }: Visitor, decision: string, content: Html) {
  return html`<form method="post" action="${recordUrl(entity)}">
    ${csrfField(csrf, { decision, seen: record.version ?? '' })}
    ${content}
  </form>`;
}

function confirmation({ record }: Thing, formOf: FormOf) {
  const isWaiting = record.state === 'waiting';
  if (!isWaiting && (isSettled(record) || isByDatabase(record))) return '';
  return html`<section>
    <h2>Confirm the name</h2>
    <p>${isWaiting ? 'Everybody can read it then, and find the thing.' : 'It stays then, also if a database knows the thing by another name.'}</p>
    ${formOf('confirm', html`<button>Confirm the name</button>`)}
  </section>`;
}

function returning({ record, other }: Thing, formOf: FormOf) {
  if (record.state === 'removed') {
    return html`<section>
      <h2>Bring it back</h2>
      <p>It has its name again, and is found. Reviews that were hidden with it stay hidden.</p>
      ${formOf('return', html`<button>Bring it back</button>`)}
    </section>`;
  }
  if (record.same_as === undefined) return '';
  return html`<section>
    <h2>Part them</h2>
    <p>It is a thing of its own again, and is found. ${other && html`It no longer leads to ${linkToThing(other)}.`}</p>
    ${formOf('return', html`<button>Part them</button>`)}
  </section>`;
}

function removal({ entity, record, reviews }: Thing, formOf: FormOf, filled: FormState) {
  if (record.state === 'removed') return '';
  const isJoined = record.leads_to !== undefined || record.led_from !== undefined;
  const isTooMuch = reviews > mostHidden;
  const obstacle = isJoined
    ? 'Part it from the things that it is the same as first.'
    : `It has ${counted(reviews, 'public review')}. Hide all but ${mostHidden} of them first.`;
  const type = nameOfEntityType(entity.entity_type).toLowerCase();
  return html`<section>
    <h2>Remove it</h2>
    <p>It has no name then, and nobody finds this ${type}. You can bring it back.</p>
    ${
      isJoined || isTooMuch
        ? html`<p>${obstacle}</p>`
        : formOf(
            'remove',
            html`${reviews > 0 && checkbox({ name: 'hides_reviews', words: `Hide ${counted(reviews, 'public review')} of it too`, isRequired: true })}
            ${whyFields(filled)}
            <button class="danger">Remove it</button>`,
          )
    }
  </section>`;
}

function joining(
  { entity, record }: Thing,
  {
    q,
    found,
    formOf,
    filled,
  }: { q: string; found: readonly KnownEntity[]; formOf: FormOf; filled: FormState },
) {
  if (record.state === 'removed' || record.leads_to !== undefined) return '';
  const searched = q.trim() !== '';
  const isOffered = !searched && found.length > 0;
  return html`<section id="join">
    <h2>Join it with another</h2>
    <p>It leads to the other then, and is no longer found. Its reviews stay here. You can part them again.</p>
    <form action="${recordUrl(entity)}#join">
      <input type="hidden" name="entity_type" value="${entity.entity_type}">
      ${field({
        name: 'q',
        label: 'The other: its name, address or id',
        maxlength: longestSearch,
        isRequired: true,
        value: q,
      })}
      <button class="quiet">Search</button>
    </form>
    ${isOffered && html`<p>Its database has merged it into this one:</p>`}
    ${searched && found.length === 0 && html`<p>Nothing else of this type has such a name.</p>`}
    ${
      found.length > 0 &&
      formOf(
        'lead',
        html`${radios({
          name: 'other',
          label: 'It is the same as',
          choices: found.map((each) => [each.id, linkToThing(each)]),
          isRequired: true,
          filled,
        })}
        <button>Join them</button>`,
      )
    }
  </section>`;
}
