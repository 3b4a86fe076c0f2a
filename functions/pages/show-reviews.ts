import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { atomType, feedUrl } from '../../shared/base/links.ts';
import { Filled, oneOf } from '../../shared/base/values.ts';
import {
  type EntityGroup,
  type EntityType,
  EntityTypeIn,
  entityGroups,
  entityTypes,
  nameOfEntityType,
  nameOfGroup,
} from '../../shared/core/entity/entity-type.ts';
import { findMetadata } from '../../shared/core/entity/metadata.ts';
import type { ReviewCounts } from '../../shared/core/review/counts.ts';
import { sumOfCounts } from '../../shared/core/review/owner-counts.ts';
import { Language } from '../../shared/core/review/review.ts';
import { readCountsByLanguage } from '../../shared/core/review/review-list.ts';
import { browseTabs } from '../../shared/features/things/public.ts';
import { manyThings } from '../../shared/pages/entity/shown-groups.ts';
import { type Choice, optionGroup, select } from '../../shared/pages/form/choices.ts';
import { fold } from '../../shared/pages/frame/beside.ts';
import { headOf } from '../../shared/pages/frame/head.ts';
import { nameOfLanguage } from '../../shared/pages/frame/language-names.ts';
import { nothingYet, toFind } from '../../shared/pages/frame/next-steps.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';
import {
  type ListQuery,
  listParameters,
  readAllReviews,
  reviewSection,
} from '../../shared/pages/review/review-list.ts';
import { readVotes } from '../../shared/pages/review/vote-form.ts';

export const request = v.object({
  query: v.object({
    entity_type: Filled(EntityTypeIn([...entityGroups.keys(), ...entityTypes])),
    language: Filled(Language),
    review_type: Filled(oneOf(['review', 'rating'])),
    ...listParameters,
  }),
});

export const handler = visitedPage(request, async ({ query }, reading) => {
  const [list, counts] = await Promise.all([readAllReviews(query), readCountsByLanguage()]);
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
    description: `What people wrote about ${manyThings()}.`,
    isWide: true,
    head: headOf({
      path: '/reviews',
      type: 'website',
      alternates: [{ type: atomType, href: feedUrl('site'), title: 'All reviews' }],
      isUnlisted: isEmpty || isFiltered || !isFirst || sort !== 'published_on',
    }),
    content: isEmpty
      ? nothingYet('Nobody has written a review yet.', toFind())
      : html`${browseTabs('/reviews')}
        <div class="columns">
          <section>${filters(url, query, sumOfCounts([...counts.values()]))}</section>
          ${reviewSection(url, query, list, { metadata, votes })}
        </div>`,
  };
});

/** A form to choose from what has reviews, and from what is chosen. */
function filters(url: string, query: ListQuery, counts: ReviewCounts) {
  const { entity_type, language, review_type, sort } = query;
  const types = new Set<string>([...counts.types.keys(), entity_type ?? '']);
  const spoken = new Set([...counts.languages.keys(), language ?? '']);
  const form = html`<form class="filters" action="${url}">
    ${select({
      name: 'entity_type',
      label: 'Type',
      none: 'All types',
      options: [...entityGroups].map(
        ([group, ofGroup]) =>
          (chosen) =>
            optionsOf(
              group,
              ofGroup.filter((type) => types.has(type)),
              chosen,
            ),
      ),
      value: entity_type,
    })}
    ${select({
      name: 'language',
      label: 'Language',
      none: 'All languages',
      options: [...spoken]
        .filter((code) => code !== '')
        .map((code): Choice => [code, nameOfLanguage(code)])
        .toSorted(([, a], [, b]) => (a < b ? -1 : 1)),
      value: language,
    })}
    ${select({
      name: 'review_type',
      label: 'Content',
      none: 'Texts and stars',
      options: [
        ['review', 'With a text'],
        ['rating', 'With stars'],
      ],
      value: review_type,
    })}
    ${sort === 'popularity' && html`<input type="hidden" name="sort" value="${sort}">`}
    <button class="quiet">Filter reviews</button>
  </form>`;
  return fold('Filter', form);
}

function optionsOf(group: EntityGroup, reviewed: readonly EntityType[], chosen: string) {
  if (reviewed.length === 0 && chosen !== group) return '';
  const name = nameOfGroup(group);
  const all: Choice = [group, `All ${name.toLowerCase()}`];
  const single = reviewed.map((type): Choice => [type, nameOfEntityType(type)]);
  return optionGroup(name, [all, ...single], chosen);
}
