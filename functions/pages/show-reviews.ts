import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/auth-url.ts';
import {
  type EntityGroup,
  EntityTypeIn,
  entityGroups,
  entityTypes,
  nameOfEntityType,
  nameOfGroup,
} from '../../shared/entity/entity-type.ts';
import { findMetadata } from '../../shared/entity/metadata.ts';
import { readFacetTotals } from '../../shared/list/totals.ts';
import { option } from '../../shared/pages/form/fields.ts';
import { nextSteps } from '../../shared/pages/frame/error-page.ts';
import { headOf } from '../../shared/pages/frame/head.ts';
import { nameOfLanguage } from '../../shared/pages/frame/language-names.ts';
import type { Html } from '../../shared/pages/frame/layout.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';
import {
  type ListQuery,
  listParameters,
  readAllReviews,
  reviewSection,
} from '../../shared/pages/review/review-list.ts';
import { readVotes } from '../../shared/pages/review/vote-form.ts';
import { countMatching, type FacetCounts } from '../../shared/review/counts.ts';
import { Language, parseFacet } from '../../shared/review/review.ts';
import { oneOf } from '../../shared/values.ts';

const groups = Object.keys(entityGroups) as EntityGroup[];

/** A filter of a form, which sends an empty text for a filter that is not set. */
function Filter<T extends v.GenericSchema<string>>(schema: T) {
  return v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => (text === '' ? undefined : text)),
      v.optional(schema),
    ),
  );
}

export const request = v.object({
  query: v.object({
    entity_type: Filter(EntityTypeIn([...groups, ...entityTypes])),
    language: Filter(Language),
    review_type: Filter(oneOf(['review', 'rating'])),
    ...listParameters,
  }),
});

export const handler = visitedPage(request, async ({ query }, reading) => {
  const [list, totals] = await Promise.all([readAllReviews(query), readFacetTotals()]);
  const [metadata, votes] = await Promise.all([
    findMetadata(list.reviews.map(({ review }) => review)),
    reading.then((visitor) => readVotes(visitor, list.reviews)),
  ]);
  const url = `${authUrl()}/reviews`;
  const { sort, cursor, ...filter } = query;
  const isFirst = cursor === undefined;
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const isEmpty = isFirst && !isFiltered && list.reviews.length === 0;
  return {
    title: 'Reviews',
    description: 'What people wrote about albums, events, books and more.',
    isWide: true,
    head: headOf({
      path: '/reviews',
      apiPath: '/review/',
      type: 'website',
      isUnlisted: isEmpty || isFiltered || !isFirst || sort !== 'published_on',
    }),
    content: isEmpty
      ? html`<section>
          <p>Nobody has written a review yet.</p>
          ${nextSteps({ href: `${authUrl()}/find`, text: 'Find something to review' })}
        </section>`
      : html`<section>${filters(url, query, totals)}</section>
        ${reviewSection(url, query, list, { metadata, votes })}`,
  };
});

/** A form to choose from what has reviews, and from what is chosen. */
function filters(url: string, query: ListQuery, totals: FacetCounts) {
  const { entity_type, language, review_type, sort } = query;
  const facets = [...countMatching(totals, {}).facets]
    .filter(([, { count }]) => count > 0)
    .map(([facet]) => parseFacet(facet));
  const types = new Set<string>([...facets.map((facet) => facet.entity_type), entity_type ?? '']);
  const spoken = new Set([...facets.map((facet) => facet.language), language ?? '']);
  const languages = [...spoken].filter((code) => code !== '').map(withName);
  return html`<form class="filters" action="${url}">
    ${choice('entity_type', 'Type', [
      option('', 'All types', entity_type ?? ''),
      ...groups.map((group) => optionsOf(group, types, entity_type)),
    ])}
    ${choice('language', 'Language', [
      option('', 'All languages', language ?? ''),
      ...languages
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ code, name }) => option(code, name, language)),
    ])}
    ${choice('review_type', 'Content', [
      option('', 'Texts and stars', review_type ?? ''),
      option('review', 'With a text', review_type),
      option('rating', 'With stars', review_type),
    ])}
    ${sort === 'popularity' && html`<input type="hidden" name="sort" value="${sort}">`}
    <button class="quiet">Filter reviews</button>
  </form>`;
}

function optionsOf(group: EntityGroup, types: ReadonlySet<string>, chosen: string | undefined) {
  const some = entityGroups[group].filter((type) => types.has(type));
  if (some.length === 0 && chosen !== group) return '';
  const name = nameOfGroup(group);
  return html`<optgroup label="${name}">
    ${option(group, `All ${name.toLowerCase()}`, chosen)}
    ${some.map((type) => option(type, nameOfEntityType(type), chosen))}
  </optgroup>`;
}

function choice(name: string, label: string, options: readonly (Html | string)[]) {
  return html`<div>
      <label for="${name}">${label}</label>
      <select id="${name}" name="${name}">${options}</select>
    </div>`;
}

const withName = (code: string) => ({ code, name: nameOfLanguage(code) });
