import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { Filled, isVisible, oneOf } from '../../shared/base/values.ts';
import type { Database } from '../../shared/core/entity/databases.ts';
import {
  type EntityType,
  entityGroups,
  entityTypes,
  groupOf,
  nameOfEntityType,
  nameOfGroup,
} from '../../shared/core/entity/entity-type.ts';
import { type KnownEntity, knownEntity } from '../../shared/core/entity/metadata.ts';
import { readPasted, siteOf } from '../../shared/core/entity/pasted.ts';
import {
  type FoundEntity,
  isSearchable,
  searchEntities,
} from '../../shared/features/databases/public.ts';
import { findThings, numbersOf } from '../../shared/features/things/public.ts';
import { entityUrl, newReviewUrl, newThingUrl } from '../../shared/pages/entity/addresses.ts';
import { aboutLine } from '../../shared/pages/entity/named-entity.ts';
import { pictureTile } from '../../shared/pages/entity/picture.ts';
import { oneThing, shownGroups } from '../../shared/pages/entity/shown-groups.ts';
import { chipsOfTypes } from '../../shared/pages/entity/type-chips.ts';
import { field } from '../../shared/pages/form/fields.ts';
import type { Html } from '../../shared/pages/frame/layout.ts';
import { nextPage } from '../../shared/pages/frame/lists.ts';
import { signInUrl } from '../../shared/pages/frame/next-steps.ts';
import { withQuery } from '../../shared/pages/frame/own-url.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';
import { counted, hostOf } from '../../shared/pages/frame/words.ts';

/** Characters of a name and of an address. */
const longestName = 200;
const longest = 2_000;

/** The type that people most likely look for in a database. */
const mostReviewed = { musicdb: 'release_group', bookdb: 'bk_literary_work' } as const;

/** The databases that this place is about. */
const databasesShown = () => [...shownGroups().keys()].filter((group) => group !== 'own');

export const request = v.object({
  query: v.object({
    q: v.optional(v.string(), ''),
    type: Filled(oneOf(entityTypes)),
    cursor: v.optional(v.string()),
  }),
});

type Found = Pick<KnownEntity, 'id' | 'type' | 'name' | 'about' | 'image'> & {
  /** Its reviews in numbers, if it is known here. */
  numbers?: Html;
};

/** The outcome of a text: its fault, or the things found here and in a database. */
interface Outcome {
  fault?: string;
  here?: Found[];
  /** The cursor of the next page of things found here. */
  next?: string;
  /** Matches of the database that are not known here. */
  elsewhere?: Found[];
  /** The reason why a database gave no matches. */
  excuse?: string;
}

const excuses = {
  busy: 'The database is busy with other searches. Search again in a few seconds.',
  away: 'The database does not answer. Search again later, or paste the address of its page.',
};

const faults = {
  tooLong: `A name must have at most ${longestName} characters.`,
  blank: 'Type a name, or paste an address or an id.',
};

function otherPage(): string {
  const names = databasesShown().flatMap((database) => entityGroups.get(database) ?? []);
  const pages = names.map((type) => nameOfEntityType(type).toLowerCase()).join(', ');
  const advice = pages
    ? `Paste the address of a page of one of these: ${pages}.`
    : 'Type its name instead.';
  return `Nothing that this address names can be reviewed. ${advice}`;
}

/** Leads from an address, an id or a name to the page of an entity. */
export const handler = visitedPage(request, async ({ query: { q, type, cursor } }, reading) => {
  const text = q.toWellFormed().replaceAll(/\s+/g, ' ').trim();
  const pasted = readPasted(text.slice(0, longest));
  if (pasted) return { location: entityUrl({ entity_id: pasted.id, entity_type: pasted.type }) };
  const searchable = databasesShown().filter(isSearchable);
  const asked = type ?? mostReviewed[searchable[0] ?? 'musicdb'];
  const isAsked = searchable.some((database) => database === groupOf(asked));
  const outcome: Outcome =
    pasted === null ? { fault: otherPage() } : await outcomeOf(text, type, cursor);
  const { fault, here } = outcome;
  // Strangers ask nobody but this service.
  const mayAsk =
    here !== undefined && cursor === undefined && isAsked && (await reading) !== undefined;
  if (mayAsk) Object.assign(outcome, await askDatabase(asked, text, here));
  return {
    title: 'Find something to review',
    description: `Find ${oneThing()} by its name or address, and review it.`,
    isWide: true,
    head: html`<meta name="robots" content="noindex">\n`,
    // The field of the header has what was found.
    ...(here && { search: { text, type } }),
    content: here
      ? html`<div class="columns">
          <section>${typeChips(text, type)}</section>
          <section>
            ${outcome.excuse && html`<p class="warning" role="alert">${outcome.excuse}</p>`}
            ${resultsOf(text, type, [...here, ...(outcome.elsewhere ?? [])], outcome.next !== undefined)}
            ${nextPage(findUrl(), outcome.next, { q: text, type })}
          </section>
          ${isAsked && !mayAsk && signInToAsk(text, type)}
          ${entityGroups.has('own') && addresses(false)}
        </div>`
      : html`<section>${form(text, type, fault)}${typeChips(text, type)}</section>
          ${addresses(pasted === null)}`,
  };
});

/** Checks a text, and finds it among the names that are known here. */
async function outcomeOf(
  text: string,
  type: EntityType | undefined,
  cursor: string | undefined,
): Promise<Outcome> {
  if (text === '') return {};
  if (!isVisible(text)) return { fault: faults.blank };
  if ([...text].length > longestName) return { fault: faults.tooLong };
  const { things, next } = await findThings(text, { type, cursor });
  return {
    here: things.map((thing) => ({ ...knownEntity(thing.record), numbers: numbersOf(thing) })),
    next,
  };
}

async function askDatabase(
  type: EntityType,
  text: string,
  here: readonly Found[],
): Promise<Outcome> {
  const found = await searchEntities(type, text);
  if (typeof found === 'string') return { excuse: excuses[found] };
  const ids = new Set(here.map(({ id }) => id));
  const isNew = ({ id }: FoundEntity) => !ids.has(id);
  return {
    elsewhere: found.filter(isNew).map(({ id, name, about }) => ({
      id,
      type,
      name,
      about: about || null,
      image: null,
    })),
  };
}

const findUrl = (query = {}) => withQuery(`${authUrl()}/find`, query);

function form(text: string, type: EntityType | undefined, fault: string | undefined) {
  return html`<form class="find" action="${findUrl()}">
    ${field({
      name: 'q',
      label: 'Name',
      hint: 'Or who made it, or its year.',
      maxlength: longest,
      isRequired: true,
      filled: { values: { q: text }, faults: fault ? { q: fault } : {} },
    })}
    ${type && html`<input type="hidden" name="type" value="${type}">`}
    <button>Search</button>
  </form>`;
}

/** Links to the same search of one type. */
function typeChips(text: string, type: EntityType | undefined) {
  const all = [...shownGroups().values()].flat();
  if (all.length < 2 && type === undefined) return '';
  const q = text || undefined;
  return chipsOfTypes(all, type, {
    urlOf: (type) => findUrl({ q, type }),
    nameOf: nameOfEntityType,
  });
}

function resultsOf(
  text: string,
  type: EntityType | undefined,
  found: readonly Found[],
  hasNext: boolean,
) {
  const results = found.map((each) => html`<li>${resultOf(each)}</li>`);
  // A page of a search by type may end before the first match.
  const isAhead = found.length === 0 && hasNext;
  const advice = isAhead
    ? 'Other types have this name too. The search continues on the next page.'
    : `Check the spelling${[...shownGroups().values()].flat().length > 1 ? ', or choose another type' : ''}.`;
  return html`<h2>${isAhead ? 'Nothing so far' : counted(found.length, 'result')} for “<bdi>${text}</bdi>”</h2>
    ${found.length === 0 && html`<p>${advice}</p>`}
    <ul class="plain">${results}<li>${entityGroups.has('own') ? toAdd(text, type) : toAddByAddress(text)}</li></ul>`;
}

function resultOf(found: Found): Html {
  const { id: entity_id, type: entity_type, name } = found;
  const entity = { entity_id, entity_type };
  return html`<div class="thing">
    ${pictureTile(entity, found)}
    <div>
      <h3><a href="${entityUrl(entity)}"><bdi>${name}</bdi></a></h3>
      ${aboutLine(entity, found)}
      ${found.numbers && html`<p>${found.numbers}</p>`}
    </div>
    <a class="button quiet" href="${newReviewUrl(entity)}" rel="nofollow" aria-label="Write a review of ${name}">Write a review</a>
  </div>`;
}

/** The last result: the way to add what was not found, as one of the types of this service. */
function toAdd(text: string, type: EntityType | undefined) {
  const own = entityGroups.get('own') ?? [];
  const [only] = own.length === 1 ? own : own.filter((each) => each === type);
  const name = text.slice(0, longestName);
  const linkTo = (entity_type: EntityType, words: string) =>
    html`<a${!only && html` class="chip"`} rel="nofollow" href="${newThingUrl({ name, entity_type })}">${words}</a>`;
  return html`<div class="thing">
    <span class="picture none" aria-hidden="true">+</span>
    <div>
      <h3>${only ? linkTo(only, 'Add it') : 'Add it as'}</h3>
      ${!only && html`<p class="chips">${own.map((each) => linkTo(each, nameOfEntityType(each)))}</p>`}
      <p class="soft">“<bdi>${text}</bdi>” is not in this list? Name it, and review it on the same page.</p>
    </div>
  </div>`;
}

/** The last result of a place without types of its own: the way by the address of a database. */
function toAddByAddress(text: string) {
  const sites = databasesShown().map((database) => {
    const site = siteOf(database);
    return html`<a href="${site}">${hostOf(site)}</a>`;
  });
  return html`<div class="thing">
    <span class="picture none" aria-hidden="true">+</span>
    <div>
      <h3>Add it by its address</h3>
      <p class="soft">“<bdi>${text}</bdi>” is not in this list? Find its page at ${sites.map((site, i) => html`${i > 0 && ' or '}${site}`)}, and search here for the address of that page. Then name it and review it.</p>
    </div>
  </div>`;
}

/** The way to search a database, which serves only people who are signed in. */
function signInToAsk(text: string, type: EntityType | undefined) {
  const here = findUrl({ q: text, type });
  return html`<section>
    <p>Not what you look for? <a href="${signInUrl(here)}">Sign in to search the database too</a>.</p>
  </section>`;
}

/** The way by an address or an id, for a place with databases. */
function addresses(isOpen: boolean) {
  const linkTo = (database: Database) => {
    const site = siteOf(database);
    return html`<li>${nameOfGroup(database)}: <a href="${site}">${hostOf(site)}</a></li>`;
  };
  const databases = databasesShown();
  if (databases.length === 0) return '';
  return html`<section><details${isOpen && html` open`}>
    <summary>Have an address?</summary>
    <p>Search for the address of its page, or for its id. These databases have most of what people review here:</p>
    <ul>${databases.map(linkTo)}</ul>
  </details></section>`;
}
