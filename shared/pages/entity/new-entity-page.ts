// The page to add something of a type that the operator has added.
import { randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import { authUrl } from '../../auth-url.ts';
import { entityGroups, nameOfEntityType } from '../../entity/entity-type.ts';
import { notFound } from '../../errors.ts';
import { type Choice, select } from '../form/choices.ts';
import { type FormState, faultOf } from '../form/fields.ts';
import { csrfField, type Page, type Visitor } from '../frame/layout.ts';
import { withQuery } from '../frame/own-url.ts';
import { namingFieldsOf } from './naming-form.ts';

/** Address of the page, with a name that somebody has searched for. */
export function newEntityUrl(query: { name?: string; entity_type?: string } = {}): string {
  return withQuery(`${authUrl()}/entity/new`, query);
}

/**
 * The form. `filledAt` is its address with what the person has searched for, for a visitor who
 * comes from the sign-in or another site. Throws ApiError 404 if the service has no types of its
 * own.
 */
export function newEntityPage({ csrf }: Visitor, filled: FormState, filledAt?: string): Page {
  const types = entityGroups.get('own');
  if (!types) throw notFound('Page');
  const choices = types.map((type): Choice => [type, nameOfEntityType(type)]);
  // The same form sent twice adds one thing.
  const { entity_id = randomUUID() } = filled.values;
  return {
    title: 'Add something to review',
    content: html`${faultOf(filled)}
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
          <button>Add it</button>
        </form>
      </section>`,
  };
}
