import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/auth-url.ts';
import {
  type EntityGroup,
  type EntityType,
  entityGroups,
  entityTypes,
  groupOf,
  nameOfEntityType,
  nameOfGroup,
} from '../../shared/entity/entity-type.ts';
import { readPasted, siteOf } from '../../shared/entity/pasted.ts';
import { isSearchable, type Match, searchEntities } from '../../shared/entity/search.ts';
import { optionGroup, select } from '../../shared/pages/form/choices.ts';
import { field } from '../../shared/pages/form/fields.ts';
import type { Html } from '../../shared/pages/frame/layout.ts';
import { withQuery } from '../../shared/pages/frame/own-url.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';
import { counted, hostOf } from '../../shared/pages/frame/words.ts';
import { isVisible, oneOf } from '../../shared/values.ts';

/** Characters of a name and of an address. */
const longestName = 200;
const longest = 2_000;

/** The type that people most likely look for. */
const mostReviewed = { musicdb: 'release_group', bookdb: 'bk_literary_work' } as const;

const groups = Object.keys(entityGroups) as EntityGroup[];

export const request = v.object({
  query: v.object({ q: v.optional(v.string(), ''), type: v.optional(oneOf(entityTypes)) }),
});

/** The outcome of a text: its fault, an excuse of the database, or matches. */
interface Outcome {
  fault?: string;
  excuse?: string;
  matches?: Match[];
}

const excuses = {
  busy: 'The database is busy with other searches. Search again in a few seconds.',
  away: 'The database does not answer. Search again later, or paste the address of its page.',
};

const faults = {
  tooLong: `A name must have at most ${longestName} characters.`,
  blank: 'Type a name, or paste an address or an id.',
  notSearchable: 'This service cannot search by name. Paste the address of the page, or an id.',
  otherPage: `Nothing that this address names can be reviewed. Paste the address of ${inWords()}.`,
};

/** Leads from an address, an id or a name to the page of an entity. */
export const handler = visitedPage(request, async ({ query }) => {
  const text = query.q.toWellFormed().replaceAll(/\s+/g, ' ').trim();
  const pasted = readPasted(text.slice(0, longest));
  if (pasted) return { location: entityUrl(pasted.id, pasted.type) };
  const searchable = groups.filter(isSearchable);
  const type = query.type ?? mostReviewed[searchable[0] ?? 'musicdb'];
  const outcome = pasted === null ? { fault: faults.otherPage } : await outcomeOf(text, type);
  return {
    title: 'Find something to review',
    description: 'Find an album, event or book by its name or address, and review it.',
    head: html`<meta name="robots" content="noindex">\n`,
    content: html`<section>${form(text, type, searchable, outcome.fault)}</section>
      ${outcome.excuse && html`<p class="warning" role="alert">${outcome.excuse}</p>`}
      ${outcome.matches && resultsOf(text, type, outcome.matches)}
      ${sources()}`,
  };
});

async function outcomeOf(text: string, type: EntityType): Promise<Outcome> {
  if (text === '') return {};
  if (!isVisible(text)) return { fault: faults.blank };
  if ([...text].length > longestName) return { fault: faults.tooLong };
  if (!isSearchable(groupOf(type))) return { fault: faults.notSearchable };
  const found = await searchEntities(type, text);
  return typeof found === 'string' ? { excuse: excuses[found] } : { matches: found };
}

function form(
  text: string,
  type: EntityType,
  searchable: readonly EntityGroup[],
  fault: string | undefined,
) {
  return html`<form action="${authUrl()}/find">
    ${field({
      name: 'q',
      label: searchable.length > 0 ? 'Name, address or id' : 'Address or id',
      hint: 'Such as https://musicbrainz.org/release-group/b1392450-e666-3926-a536-22c65f834433',
      maxlength: longest,
      isRequired: true,
      filled: { values: { q: text }, faults: fault ? { q: fault } : {} },
    })}
    ${searchable.length > 0 && typeField(type, searchable)}
    <button>Find it</button>
  </form>`;
}

function typeField(type: EntityType, searchable: readonly EntityGroup[]) {
  return select({
    name: 'type',
    label: 'Type',
    hint: 'For a name. An EP counts as a single.',
    options: searchable.map((group) => (chosen) => {
      const choices = entityGroups[group].map((each) => [each, nameOfEntityType(each)] as const);
      return optionGroup(nameOfGroup(group), choices, chosen);
    }),
    value: type,
  });
}

function resultsOf(text: string, type: EntityType, matches: readonly Match[]) {
  return html`<section>
    <h2>${counted(matches.length, 'result')} for “<bdi>${text}</bdi>”</h2>
    ${
      matches.length === 0
        ? html`<p>Check the spelling, or choose another type.</p>`
        : html`<ul class="plain">${matches.map((match) => html`<li>${resultOf(match, type)}</li>`)}</ul>`
    }
  </section>`;
}

function resultOf({ id, name, about }: Match, type: EntityType): Html {
  const review = withQuery(`${authUrl()}/review/new`, { entity_id: id, entity_type: type });
  return html`<h3><a href="${entityUrl(id, type)}"><bdi>${name}</bdi></a></h3>
    ${about && html`<p class="soft"><bdi>${about}</bdi></p>`}
    <p><a class="button quiet" href="${review}" rel="nofollow" aria-label="Write a review of ${name}">Write a review</a></p>`;
}

function sources() {
  const links = groups.map(
    (group) =>
      html`<li>${nameOfGroup(group)}: <a href="${siteOf(group)}">${hostOf(siteOf(group))}</a></li>`,
  );
  return html`<section>
    <h2>Where to look</h2>
    <p>Open the page of what you want to review, and paste its address above. These databases have most of it:</p>
    <ul>${links}</ul>
  </section>`;
}

/** The page shows nothing of an entity without reviews unless its type is known. */
function entityUrl(id: string, entity_type: EntityType | undefined): string {
  return withQuery(`${authUrl()}/entity/${id}`, { entity_type });
}

/** The types whose pages can be pasted, in a sentence. */
function inWords(): string {
  const names = entityTypes.map((type) => nameOfEntityType(type).toLowerCase());
  return `a page of one of these: ${names.join(', ')}`;
}
