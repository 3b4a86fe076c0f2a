// The page to write a review of an entity.
import { html } from 'hono/html';
import * as v from 'valibot';
import { Uuid } from '../../../base/values.ts';
import { EntityTypeIn, isOwnType, nameOfEntity } from '../../../core/entity/entity-type.ts';
import { findRecords, type KnownEntity, knownEntity } from '../../../core/entity/metadata.ts';
import { reviewableTypes } from '../../../core/entity/reviewable-types.ts';
import { isNameFor } from '../../../core/entity/state.ts';
import { isNewcomer } from '../../../core/review/newcomer.ts';
import { findLastWritten, findOwnReview } from '../../../core/review/own-reviews.ts';
import type { Review } from '../../../core/review/review.ts';
import { writtenNames } from '../../../core/review/written.ts';
import { findSummary } from '../../../core/summary/summary.ts';
import { newReviewUrl, newThingUrl } from '../../../pages/entity/addresses.ts';
import { entityLine } from '../../../pages/entity/named-entity.ts';
import { blank, type FormState, faultOf } from '../../../pages/form/fields.ts';
import type { Redirect } from '../../../pages/frame/html-response.ts';
import { csrfField, type Html, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { editReviewPage } from '../../../pages/review/edit-review-page.ts';
import { newReviewFields, publishedAs } from '../../../pages/review/review-fields.ts';
import { blockedHelp, findObstacle, obstaclePage } from '../../../pages/review/review-obstacle.ts';
import { askForMetadata } from '../../databases/public.ts';
import { mayBeNamed } from '../../names/public.ts';
import { namingFieldsOf } from './naming-form.ts';

/** The query of the page: the entity, as other sites name it in a link. */
export const ReviewedEntity = v.object({
  entity_id: Uuid,
  entity_type: EntityTypeIn(reviewableTypes),
});
export type ReviewedEntity = v.InferOutput<typeof ReviewedEntity>;

/**
 * The empty form. Leads to the editor of the review that the person has written already, and to
 * the form with the type that the entity has in public reviews.
 */
export async function startReview(
  entity: ReviewedEntity,
  visitor: Visitor,
): Promise<Page | Redirect> {
  const { user } = visitor;
  const [own, { entity_type }, { metadata, isToName, last, isHeld }, obstacle] = await Promise.all([
    findOwnReview(user.id, entity.entity_id),
    findSummary(entity.entity_id),
    readProposal(entity, user.id),
    findObstacle(user, 'publications'),
  ]);
  if (own === 'hidden') return obstaclePage('You cannot write another review', hiddenHelp());
  if (own) return { location: `/review/${own.review_id}/edit` };
  if (entity_type !== null && entity_type !== entity.entity_type) {
    return { location: newReviewUrl({ ...entity, entity_type }) };
  }
  if (metadata?.leads_to) {
    return { location: newReviewUrl({ ...entity, entity_id: metadata.leads_to }) };
  }
  const known = metadata ?? (obstacle ? null : await askForMetadata(entity));
  const proposal = { metadata: known, isToName: isToName && !known, last, isHeld };
  return formPage(entity, visitor, proposal, { filled: blank, obstacle });
}

/**
 * The form as sent, with its errors. A person who has a review of the entity already edits that
 * review with it.
 */
export async function refilledReview(
  entity: ReviewedEntity,
  filled: FormState,
  visitor: Visitor,
): Promise<Page> {
  const own = await findOwnReview(visitor.user.id, entity.entity_id);
  if (own === 'hidden') return obstaclePage('Your review was not saved', hiddenHelp(), filled);
  if (own) {
    const typed = writtenNames.map((name) => [name, filled.values[name] ?? '']);
    const written =
      'You have written a review of this already. It is below what you typed now. Press the button again to replace it.';
    const faults = { ...filled.faults, '': written };
    return editReviewPage(own.review_id, visitor, { values: Object.fromEntries(typed), faults });
  }
  const { user } = visitor;
  const obstacle = user.blocked_at === undefined ? undefined : blockedHelp();
  return formPage(entity, visitor, await readProposal(entity, user.id), { filled, obstacle });
}

function hiddenHelp(): Html {
  return html`<p>A moderator has hidden your review of this.</p>
    <p>You deleted it while it was hidden, so you cannot write another one. Your account page shows what the moderator wrote about it.</p>`;
}

/** The name, if it is known, whether the form asks for one, and the person's last review. */
interface Proposal {
  metadata: KnownEntity | null;
  isToName: boolean;
  /** Its language is proposed. */
  last: Review | undefined;
  /** True for somebody whose reviews wait for a moderator. */
  isHeld: boolean;
}

async function readProposal(entity: ReviewedEntity, userId: string): Promise<Proposal> {
  const [[record], last, isHeld] = await Promise.all([
    findRecords([entity]),
    findLastWritten(userId),
    isNewcomer(userId),
  ]);
  const person = { id: userId, isModerator: false };
  const metadata = record && isNameFor(record, person) ? knownEntity(record) : null;
  return { metadata, isToName: mayBeNamed(record, person), last, isHeld };
}

/** The first review of something without a name gives it one. */
function firstNaming(filled: FormState): Html {
  return html`<fieldset class="group">
    <legend>What are you reviewing?</legend>
    <p class="soft">It has no name here yet.</p>
    ${namingFieldsOf(filled)}
  </fieldset>`;
}

/** Nothing of a type of this service exists before somebody adds it. */
function addFirst(): Html {
  return html`<p>Nothing of this type has this id.</p>
    <p><a class="button" href="${newThingUrl()}">Add it first</a></p>`;
}

function formPage(
  entity: ReviewedEntity,
  visitor: Visitor,
  { metadata, isToName, last, isHeld }: Proposal,
  { filled, obstacle }: { filled: FormState; obstacle: Html | undefined },
): Page {
  const name = nameOfEntity(entity, metadata);
  const title = `Write a review: ${name}`;
  if (obstacle) return obstaclePage(title, obstacle, filled);
  if (!metadata && isOwnType(entity.entity_type)) return obstaclePage(title, addFirst(), filled);
  return {
    title,
    heading: html`Write a review: <bdi>${name}</bdi>`,
    hasWriting: true,
    content: html`${faultOf(filled)}
      <section>
        ${entityLine(entity, metadata, { opensTab: true })}
        <form method="post" action="${newReviewUrl(entity)}">
          ${csrfField(visitor.csrf)}
          ${publishedAs(visitor.user, isHeld)}
          ${isToName && firstNaming(filled)}
          ${newReviewFields(filled, visitor, last)}
          <div class="buttons">
            <button>Publish</button>
            <button class="quiet" name="is_draft" value="yes">Save as draft</button>
          </div>
        </form>
      </section>`,
  };
}
