// The page to add something of a type that the operator has added, and to review it at once.
import { randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import { notFound } from '../../../base/errors.ts';
import {
  type EntityType,
  entityGroups,
  nameOfEntityType,
} from '../../../core/entity/entity-type.ts';
import type { EntityRecord } from '../../../core/entity/record.ts';
import { isNewcomer } from '../../../core/review/newcomer.ts';
import { findLastWritten } from '../../../core/review/own-reviews.ts';
import { entityUrl, newThingUrl } from '../../../pages/entity/addresses.ts';
import { type Choice, radios, select } from '../../../pages/form/choices.ts';
import { blank, type FormState, faultOf } from '../../../pages/form/fields.ts';
import { csrfField, type Html, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { counted } from '../../../pages/frame/words.ts';
import { newReviewFields, publishedAs } from '../../../pages/review/review-fields.ts';
import { blockedHelp, findObstacle, obstaclePage } from '../../../pages/review/review-obstacle.ts';
import { findNamesakes } from '../../things/find-things.ts';
import { namingFieldsOf } from './naming-form.ts';

const title = 'Add something to review';

/** The value of `same_as` for a thing that only shares its name with others. */
export const isOther = 'other';

/** The types of this service. Throws ApiError 404 if it has none. */
export function requireOwnTypes(): readonly EntityType[] {
  const types = entityGroups.get('own');
  if (!types) throw notFound('Page');
  return types;
}

/**
 * The empty form, or with what the person has searched for. `filledAt` is its address with that,
 * for a person who comes from elsewhere.
 */
export async function startThing(
  visitor: Visitor,
  values: FormState['values'],
  filledAt?: string,
): Promise<Page> {
  requireOwnTypes();
  const obstacle = await findObstacle(visitor.user, 'publications');
  if (obstacle) return obstaclePage(title, obstacle);
  return formPage(visitor, { ...blank, values }, filledAt);
}

/** The form as sent, with its errors. */
export async function refilledThing(visitor: Visitor, filled: FormState): Promise<Page> {
  if (visitor.user.blocked_at !== undefined) return obstaclePage(title, blockedHelp(), filled);
  return formPage(visitor, filled);
}

async function formPage(visitor: Visitor, filled: FormState, filledAt?: string): Promise<Page> {
  const types = requireOwnTypes();
  // The same form sent twice adds one thing.
  const { entity_id = randomUUID(), entity_type, name = '' } = filled.values;
  const type = types.find((each) => each === entity_type);
  const [namesakes, last, isHeld] = await Promise.all([
    type && name !== '' ? findNamesakes({ entity_id, entity_type: type }, name) : [],
    findLastWritten(visitor.user.id),
    isNewcomer(visitor.user.id),
  ]);
  return {
    title,
    hasWriting: true,
    content: html`${faultOf(filled)}
      <section>
        ${name === '' && !filled.values.text && html`<p>Search for it first: <a href="${authUrl()}/find">perhaps it is here already</a>.</p>`}
        ${filledAt && html`<p><a rel="nofollow" href="${filledAt}">Fill in what you searched for</a></p>`}
        <form method="post" action="${newThingUrl()}">
          ${csrfField(visitor.csrf, { entity_id })}
          ${namesakes.length > 0 && whichOne(namesakes, filled)}
          ${select({
            name: 'entity_type',
            label: 'Type',
            options: types.map((each): Choice => [each, nameOfEntityType(each)]),
            isRequired: true,
            filled,
          })}
          ${namingFieldsOf(filled)}
          <h2>Your review</h2>
          ${publishedAs(visitor.user, isHeld)}
          ${newReviewFields(filled, visitor, last)}
          <div class="buttons">
            <button name="review" value="publish">Publish</button>
            <button class="quiet" name="review" value="draft">Save as draft</button>
            <button class="quiet" name="review" value="none" formnovalidate>Add it without a review</button>
          </div>
        </form>
      </section>`,
  };
}

/** Asks whether the person means one of the things that have the name. */
function whichOne(namesakes: readonly EntityRecord[], filled: FormState): Html {
  const choices = namesakes.map((each): Choice => {
    const { entity_id, name, about } = each;
    return [
      entity_id,
      html`<bdi>${name}</bdi>${about && html` · <bdi>${about}</bdi>`} <a href="${entityUrl(each)}" target="_blank" rel="noreferrer">Look at it</a>`,
    ];
  });
  const words =
    namesakes.length === 1 ? 'One thing has' : `${counted(namesakes.length, 'thing')} have`;
  return radios({
    name: 'same_as',
    label: `${words} this name already. Do you mean it?`,
    choices: [...choices, [isOther, 'No, it is another']],
    isRequired: true,
    filled,
  });
}
