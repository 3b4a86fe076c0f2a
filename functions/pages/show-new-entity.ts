import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { newEntityPage, newEntityUrl } from '../../shared/pages/entity/new-entity-page.ts';
import { blank } from '../../shared/pages/form/fields.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { isFromOwnPage } from '../../shared/pages/form/sent-form.ts';

export const request = signedIn({
  query: v.object({
    name: v.optional(v.string(), ''),
    entity_type: v.optional(v.string(), ''),
  }),
});

/**
 * Shows the form to add something of a type of this service. A link of another site fills in
 * nothing, because that site may make the person hold the key that sends the form.
 */
export const handler = page(request, ({ query }, { event, visitor }) => {
  if (isFromOwnPage(event)) return newEntityPage(visitor, { values: query, faults: {} });
  const filledAt = isReported(event) ? newEntityUrl(query) : undefined;
  return newEntityPage(visitor, blank, { filledAt });
});

/** Is true if the browser says where a request comes from, so that a link of ours is told apart. */
function isReported({ headers }: APIGatewayProxyEvent): boolean {
  return headers['sec-fetch-site'] !== undefined;
}
