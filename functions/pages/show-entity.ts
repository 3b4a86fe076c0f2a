import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { feedUrl } from '../../shared/base/links.ts';
import {
  type EntityType,
  nameOfEntityType,
  nameOfGroup,
} from '../../shared/core/entity/entity-type.ts';
import { findMetadata, type KnownEntity } from '../../shared/core/entity/metadata.ts';
import { EntityPath } from '../../shared/core/http/request.ts';
import { findOwnReview } from '../../shared/core/review/own-reviews.ts';
import { Language, ReviewedType, Stars } from '../../shared/core/review/review.ts';
import { canModerate } from '../../shared/core/user/user-type.ts';
import { namingLink, recordUrl } from '../../shared/features/things/public.ts';
import { newReviewUrl } from '../../shared/pages/entity/addresses.ts';
import {
  embedCode,
  entityLine,
  linkToThing,
  type NamedEntity,
  oembedUrl,
  readNamedEntity,
} from '../../shared/pages/entity/named-entity.ts';
import { pictureTile } from '../../shared/pages/entity/picture.ts';
import { shownGroups } from '../../shared/pages/entity/shown-groups.ts';
import { ratingData } from '../../shared/pages/entity/structured-data.ts';
import { optionGroup, select } from '../../shared/pages/form/choices.ts';
import { headOf } from '../../shared/pages/frame/head.ts';
import { nameOfLanguage } from '../../shared/pages/frame/language-names.ts';
import type { Html, Visitor } from '../../shared/pages/frame/layout.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';
import { averageOf } from '../../shared/pages/frame/stars.ts';
import { counted } from '../../shared/pages/frame/words.ts';
import { histogram } from '../../shared/pages/review/histogram.ts';
import {
  type ListQuery,
  listParameters,
  listUrl,
  readReviews,
  reviewCount,
  reviewSection,
} from '../../shared/pages/review/review-list.ts';
import { readVotes } from '../../shared/pages/review/vote-form.ts';

export const request = v.object({
  path: EntityPath,
  query: v.object({
    rating: v.optional(Stars),
    language: v.optional(Language),
    ...listParameters,
    /** Type of an entity without reviews, for the link to write the first one. */
    entity_type: v.fallback(v.optional(ReviewedType), undefined),
  }),
});

export const handler = visitedPage(
  request,
  async ({ path, query: { entity_type, ...query } }, reading) => {
    const { entity_id } = path;
    const [entity, alone, own, visitor] = await Promise.all([
      readNamedEntity(entity_id, entity_type, reading),
      readReviews({ entity_id }, query),
      reading.then((person) => person && findOwnReview(person.user.id, entity_id, fromReplica)),
      reading,
    ]);
    const { url, name, title, summary, led_from, metadata } = entity;
    const list = led_from.length > 0 ? await readReviews({ entity_id }, query, led_from) : alone;
    const [votes, other] = await Promise.all([
      readVotes(visitor, list.reviews),
      readOther(metadata),
    ]);
    const oembed = { type: 'application/json+oembed', href: oembedUrl(url), title };
    const isEmpty = summary.review_count === 0;
    const notices = html`${metadata?.state === 'waiting' && waitingHelp}${other && sameAs(other, isEmpty)}`;
    const write = writing(other?.id ?? entity_id, entity.entity_type, own);
    return {
      title,
      heading: html`<bdi>${name}</bdi>`,
      top: topOf(entity, visitor, write),
      hasWriting: write !== '',
      description: descriptionOf(entity),
      isWide: true,
      head: headOf({
        path: `/entity/${entity_id}`,
        type: 'website',
        feed: `Reviews of ${title}`,
        alternates: [oembed],
        data: ratingData(summary, metadata),
        isUnlisted: isEmpty,
      }),
      content: isEmpty
        ? html`${notices}<section>
          <p>Nobody has reviewed this yet.</p>
          ${write === '' ? typeForm(url) : html`<p><a href="${authUrl()}/reviews">Read other reviews</a></p>`}
        </section>`
        : html`${notices}<div class="columns">
          <div>${histogram(summary.ratings, {
            title: 'Ratings by stars',
            caption: 'Ratings',
            hrefOf: (stars) => listUrl(url, { ...query, rating: [stars] }),
          })}</div>
          ${reviewSection(url, query, list, { isOfOneEntity: true, votes })}
          <div>${languages(entity, query)}${feedAndEmbed(entity)}</div>
        </div>`,
    };
  },
);

const fromReplica = { consistent: false };

/** The link to write a review, or to edit the visitor's own one. */
function writing(
  entity_id: string,
  entity_type: EntityType | undefined,
  own: Awaited<ReturnType<typeof findOwnReview>>,
): Html | '' {
  const base = authUrl();
  if (own === 'hidden') return html`<span>A moderator has hidden your review of this.</span>`;
  if (own) {
    const editor = `${base}/review/${own.review_id}/edit`;
    return html`<a class="button" href="${editor}">Edit yours</a>`;
  }
  // Without a type, the page asks for it.
  if (!entity_type) return '';
  const form = newReviewUrl({ entity_id, entity_type });
  return html`<a class="button" rel="nofollow" href="${form}">Write a review</a>`;
}

/** Asks for the type of an id that nothing is known of. */
function typeForm(url: string) {
  return html`<form action="${url}">
    ${select({
      name: 'entity_type',
      label: 'What is it?',
      options: [...shownGroups()].map(
        ([group, types]) =>
          (chosen) =>
            optionGroup(
              nameOfGroup(group),
              types.map((type) => [type, nameOfEntityType(type)]),
              chosen,
            ),
      ),
      isRequired: true,
    })}
    <button>Continue</button>
  </form>`;
}

function descriptionOf({ summary: { review_count, average_rating } }: NamedEntity) {
  const { rating, count } = average_rating;
  const average = rating === null ? '' : `${rating} of 5 stars from ${counted(count, 'rating')}. `;
  return `${average}${reviewCount(review_count)}.`;
}

/** Reads the thing that this one is the same as. */
async function readOther(known: KnownEntity | null): Promise<KnownEntity | undefined> {
  if (known?.leads_to === undefined) return undefined;
  const { leads_to: entity_id, type: entity_type } = known;
  const [other] = await findMetadata([{ entity_id, entity_type }]);
  return other ?? undefined;
}

/** The head of the page: what it is, how people like it, and the way to say so oneself. */
function topOf(
  { name, summary, entity_type, metadata }: NamedEntity,
  visitor: Visitor | undefined,
  write: Html | '',
) {
  if (!entity_type) return undefined;
  const entity = { entity_id: summary.id, entity_type };
  const links = [namingLink(entity, metadata !== null)];
  if (visitor && canModerate(visitor.user)) {
    links.push(html`<a href="${recordUrl(entity)}">Remove or join it</a>`);
  }
  return html`<div class="about">
    ${pictureTile(entity, metadata, 128)}
    <div><h1${[...name].length > longName && html` class="long"`}><bdi>${name}</bdi></h1>${entityLine(entity, metadata, { more: links })}</div>
    <div class="buttons">${averageOf(summary.average_rating)}${write}</div>
  </div>`;
}

/** Characters of a name that a phone shows in smaller letters, so that it leaves room for more. */
const longName = 40;

const waitingHelp = html`<p class="warning">This name waits for a moderator. Until the first review of this is approved, only the person who gave it and moderators can read it.</p>`;

function sameAs(other: KnownEntity, isEmpty: boolean) {
  return html`<p class="notice">This is the same as ${linkToThing(other)}. New reviews go there.${!isEmpty && ' The reviews below were written here.'}</p>`;
}

function languages({ url, summary }: NamedEntity, query: ListQuery) {
  return html`<section>
    <h2>Languages</h2>
    <ul class="row">
      ${Object.entries(summary.languages).map(
        ([language, count]) =>
          html`<li><a href="${listUrl(url, { ...query, language })}">${nameOfLanguage(language)}</a> <span class="soft">${count}</span></li>`,
      )}
    </ul>
  </section>`;
}

function feedAndEmbed(entity: NamedEntity) {
  return html`<section>
    <h2>Follow and embed</h2>
    <p><a href="${feedUrl({ entity_id: entity.summary.id })}">Atom feed of the reviews</a></p>
    <details>
      <summary>Show the stars on your website</summary>
      <p>Copy this code into the HTML of your page. Add <code>?theme=light</code> or <code>?theme=dark</code> after <code>/embed</code> to fit your page: <a href="${authUrl()}/docs/embed">more about embedding</a>.</p>
      <code class="copy">${embedCode(entity)}</code>
    </details>
  </section>`;
}
