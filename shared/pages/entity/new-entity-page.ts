// The page to add something of a type that the operator has added.
import { randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import { authUrl } from '../../auth-url.ts';
import { entityGroups, nameOfEntityType } from '../../entity/entity-type.ts';
import type { KnownEntity } from '../../entity/metadata.ts';
import { notFound } from '../../errors.ts';
import { type Choice, select } from '../form/choices.ts';
import { type FormState, faultOf } from '../form/fields.ts';
import { csrfField, type Html, type Page, type Visitor } from '../frame/layout.ts';
import { withQuery } from '../frame/own-url.ts';
import { aboutLine } from './named-entity.ts';
import { namingFieldsOf } from './naming-form.ts';

/** Address of the page, with a name that somebody has searched for. */
export function newEntityUrl(query: { name?: string; entity_type?: string } = {}): string {
  return withQuery(`${authUrl()}/entity/new`, query);
}

/** More that the form shows. */
interface Around {
  /** Its address with what the person has searched for, for one who comes from elsewhere. */
  filledAt?: string | undefined;
  /** Things that have the name already. The person says whether this is another. */
  same?: readonly KnownEntity[];
}

/** The form. Throws ApiError 404 if the service has no types of its own. */
export function newEntityPage(
  { csrf }: Visitor,
  filled: FormState,
  { filledAt, same = [] }: Around = {},
): Page {
  const types = entityGroups.get('own');
  if (!types) throw notFound('Page');
  const choices = types.map((type): Choice => [type, nameOfEntityType(type)]);
  // The same form sent twice adds one thing.
  const { entity_id = randomUUID() } = filled.values;
  return {
    title: 'Add something to review',
    content: html`${faultOf(filled)}
      ${same.length > 0 && alreadyHere(same)}
      <section>
        <p>Search for it first: <a href="${authUrl()}/find">perhaps it is here already</a>.</p>
        ${filledAt && html`<p><a rel="nofollow" href="${filledAt}">Fill in what you searched for</a></p>`}
        <form method="post" action="${newEntityUrl()}">
          ${csrfField(csrf)}
          <input type="hidden" name="entity_id" value="${entity_id}">
          ${select({
            name: 'entity_type',
            label: 'Type',
            options: choices,
            isRequired: true,
            filled,
          })}
          ${namingFieldsOf(filled)}
          ${same.length > 0 ? html`<button name="is_other" value="yes">It is another: add it</button>` : html`<button>Add it</button>`}
        </form>
      </section>`,
  };
}

function alreadyHere(same: readonly KnownEntity[]): Html {
  return html`<section>
    <p class="warning">${same.length === 1 ? 'One thing has' : `${same.length} things have`} this name already. Nothing was added yet.</p>
    <ul class="plain">${same.map((each) => html`<li>${thingHere(each)}</li>`)}</ul>
  </section>`;
}

function thingHere(known: KnownEntity): Html {
  const { id: entity_id, type: entity_type, name } = known;
  const query = { entity_id, entity_type };
  return html`<h2><a href="${withQuery(`${authUrl()}/entity/${entity_id}`, { entity_type })}"><bdi>${name}</bdi></a></h2>
    ${aboutLine(query, known)}
    <p><a class="button quiet" rel="nofollow" href="${withQuery(`${authUrl()}/review/new`, query)}">Review this one</a></p>`;
}
