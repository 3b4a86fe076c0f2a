// The page to write a review of an entity.
import { randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../auth-url.ts';
import { type EntityType, nameOfEntity, nameOfEntityType } from '../../entity/entity-type.ts';
import { findMetadata } from '../../entity/metadata.ts';
import type { Metadata } from '../../entity/presented.ts';
import { findLastWritten, findOwnReview } from '../../review/own-reviews.ts';
import { type Review, ReviewedType } from '../../review/review.ts';
import { findSummary } from '../../summary/summary.ts';
import { Uuid } from '../../values.ts';
import { entityLine } from '../entity/named-entity.ts';
import { blank, type FormState, faultOf } from '../form/fields.ts';
import { nextSteps } from '../frame/error-page.ts';
import type { Redirect } from '../frame/html-response.ts';
import { csrfField, type Html, type Page, type Visitor } from '../frame/layout.ts';
import { withQuery } from '../frame/own-url.ts';
import { editReviewPage } from './edit-review-page.ts';
import { languageField, licenseField, starsField, textField } from './review-fields.ts';
import { findObstacle, obstaclePage } from './review-obstacle.ts';

/** The query of the page: the entity, as other sites name it in a link. */
export const ReviewedEntity = v.object({ entity_id: Uuid, entity_type: ReviewedType });
export type ReviewedEntity = v.InferOutput<typeof ReviewedEntity>;

/** Address of the page. */
export function newReviewUrl({ entity_id, entity_type }: ReviewedEntity): string {
  return withQuery(`${authUrl()}/review/new`, { entity_id, entity_type });
}

/** Returns the type of an entity with public reviews, if it is not the one that is named. */
export async function findOtherType(entity: ReviewedEntity): Promise<EntityType | undefined> {
  const { entity_type } = await findSummary(entity.entity_id);
  return entity_type !== null && entity_type !== entity.entity_type ? entity_type : undefined;
}

/** The empty form, or the way to the review that the person has written already. */
export async function startReview(
  entity: ReviewedEntity,
  { user, csrf }: Visitor,
): Promise<Page | Redirect> {
  const [own, other, { last, metadata }, obstacle] = await Promise.all([
    findOwnReview(user.id, entity.entity_id),
    findOtherType(entity),
    readForForm(entity, user.id),
    findObstacle(user, 'publications'),
  ]);
  const name = nameOfEntity(entity, metadata);
  const title = `Write a review: ${name}`;
  if (own === 'hidden') return obstaclePage(title, hiddenHelp());
  if (own) return { location: `/review/${own.review_id}/edit` };
  if (obstacle) return obstaclePage(title, obstacle);
  if (other) return otherTypePage(entity, other);
  return formPage({ entity, metadata, last, csrf, filled: blank });
}

/** The form as sent, with its errors. Who has a review of the entity edits that one with it. */
export async function newReviewAgain(
  entity: ReviewedEntity,
  filled: FormState,
  visitor: Visitor,
): Promise<Page> {
  const { user, csrf } = visitor;
  const [own, other] = await Promise.all([
    findOwnReview(user.id, entity.entity_id),
    findOtherType(entity),
  ]);
  const corrected = { ...entity, entity_type: other ?? entity.entity_type };
  if (user.blocked_at !== undefined || own === 'hidden') {
    const why = own === 'hidden' ? hiddenHelp() : await findObstacle(user, 'publications');
    return obstaclePage('Your review was not saved', why ?? html``, filled);
  }
  if (own) {
    const { text = '', rating = '' } = filled.values;
    const written =
      'You have written a review of this already. It is below what you typed now. Press the button again to replace it.';
    const faults = { ...filled.faults, '': written };
    return editReviewPage(own.review_id, visitor, { values: { text, rating }, faults });
  }
  const { last, metadata } = await readForForm(corrected, user.id);
  return formPage({ entity: corrected, metadata, last, csrf, filled });
}

/** Reads the name of the entity, and what the person has written last. */
async function readForForm(entity: ReviewedEntity, userId: string) {
  const [[metadata = null], last] = await Promise.all([
    findMetadata([entity]),
    findLastWritten(userId),
  ]);
  return { metadata, last };
}

function hiddenHelp(): Html {
  return html`<p>A moderator has hidden your review of this.</p>
    <p>You deleted it while it was hidden, so you cannot write another one. Your account page shows what the moderator wrote about it.</p>`;
}

/** For a link with a type that differs from the type in the reviews of this entity. */
function otherTypePage(entity: ReviewedEntity, type: EntityType): Page {
  const noun = nameOfEntityType(type).toLowerCase();
  const href = newReviewUrl({ ...entity, entity_type: type });
  return {
    status: 400,
    title: 'This link names another type',
    content: html`<section>
      <p>It says ${nameOfEntityType(entity.entity_type).toLowerCase()}, but people have reviewed this as ${noun}.</p>
      ${nextSteps({ href, text: `Review the ${noun}` })}
    </section>`,
  };
}

interface Form {
  entity: ReviewedEntity;
  metadata: Metadata | null;
  /** The newest review of the person, whose language and licence are proposed. */
  last: Review | undefined;
  csrf: string;
  filled: FormState;
}

function formPage({ entity, metadata, last, csrf, filled }: Form): Page {
  const name = nameOfEntity(entity, metadata);
  // The first form of all makes the key, so that it publishes once, however often it is sent.
  const key = filled.values.key || randomUUID();
  return {
    title: `Write a review: ${name}`,
    heading: html`Write a review: <bdi>${name}</bdi>`,
    content: html`${faultOf(filled)}
      <section>
        ${entityLine(entity, metadata)}
        <form method="post" action="${newReviewUrl(entity)}">
          ${csrfField(csrf)}
          <input type="hidden" name="key" value="${key}">
          ${starsField(filled)}
          ${textField(filled)}
          ${languageField(filled, last?.language)}
          ${licenseField(filled, last?.license)}
          <div class="buttons">
            <button>Publish</button>
            <button class="quiet" name="is_draft" value="yes">Save as draft</button>
          </div>
        </form>
      </section>`,
  };
}
