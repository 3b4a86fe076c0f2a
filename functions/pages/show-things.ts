import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { Filled, oneOf } from '../../shared/base/values.ts';
import {
  type EntityType,
  EntityTypeIn,
  entityTypes,
  pluralOfEntityType,
} from '../../shared/core/entity/entity-type.ts';
import { readCounts } from '../../shared/core/review/review-list.ts';
import {
  browseTabs,
  listThings,
  type ThingSort,
  thingShelf,
  thingSorts,
} from '../../shared/features/things/public.ts';
import { shownGroups } from '../../shared/pages/entity/shown-groups.ts';
import { chipsOfTypes } from '../../shared/pages/entity/type-chips.ts';
import { headOf } from '../../shared/pages/frame/head.ts';
import type { Html } from '../../shared/pages/frame/layout.ts';
import { nextPage, perPage, tabs } from '../../shared/pages/frame/lists.ts';
import { nothingYet, toFind } from '../../shared/pages/frame/next-steps.ts';
import { withQuery } from '../../shared/pages/frame/own-url.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';

export const request = v.object({
  query: v.object({
    sort: v.optional(oneOf(thingSorts), 'reviews'),
    entity_type: Filled(EntityTypeIn(entityTypes)),
    cursor: v.optional(v.string()),
  }),
});

const names: Readonly<Record<ThingSort, string>> = {
  reviews: 'Most reviewed',
  rating: 'Best rated',
  latest: 'Newest here',
};

/** Lists what has reviews, in one of three orders. */
export const handler = visitedPage(request, async ({ query }) => {
  const { sort, entity_type, cursor } = query;
  const [{ things, next }, counts] = await Promise.all([
    listThings({ sort, entity_type, limit: perPage, cursor }),
    readCounts(),
  ]);
  const isFirst = cursor === undefined;
  const isPlain = isFirst && sort === 'reviews' && entity_type === undefined;
  return {
    title: titleOf(sort, entity_type),
    description: 'What people review here: most reviewed, best rated and newest.',
    isWide: true,
    head: headOf({ path: '/things', type: 'website', isUnlisted: !isPlain }),
    content: html`${browseTabs('/things')}
      <section>
        ${typeChips([...counts.keys()], sort, entity_type)}
        <h2>${entity_type ? pluralOfEntityType(entity_type) : 'All types'}</h2>
        ${tabs(
          'Order',
          urlOf(sort, entity_type),
          thingSorts.map((each) => [urlOf(each, entity_type), names[each]]),
        )}
        ${
          things.length > 0
            ? thingShelf(things)
            : nothingYet(
                isFirst ? 'Nothing with a name has reviews here yet.' : 'There is nothing more.',
                toFind(),
              )
        }
        ${nextPage(urlOf(sort, entity_type), next)}
      </section>`,
  };
});

function titleOf(sort: ThingSort, type: EntityType | undefined): string {
  return type === undefined ? names[sort] : `${names[sort]}: ${pluralOfEntityType(type)}`;
}

function urlOf(sort: ThingSort, entity_type?: EntityType): string {
  const order = sort === 'reviews' ? undefined : sort;
  return withQuery(`${authUrl()}/things`, { sort: order, entity_type });
}

/** Links to the list of each type that has reviews. */
function typeChips(
  reviewed: readonly EntityType[],
  sort: ThingSort,
  type: EntityType | undefined,
): Html | '' {
  const shown = [...shownGroups().values()].flat();
  const others = shown.filter((each) => each !== type && reviewed.includes(each));
  if (others.length + Number(type !== undefined) < 2) return '';
  return chipsOfTypes(others, type, {
    urlOf: (each) => urlOf(sort, each),
    nameOf: pluralOfEntityType,
  });
}
