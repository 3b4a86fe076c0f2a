import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { startThing } from '../../shared/features/things/public.ts';
import { newThingUrl } from '../../shared/pages/entity/addresses.ts';
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
  if (isFromOwnPage(event)) return startThing(visitor, query);
  return startThing(visitor, {}, isReported(event) ? newThingUrl(query) : undefined);
});

/** Is true if the browser says where a request comes from, so that a link of ours is told apart. */
function isReported({ headers }: APIGatewayProxyEvent): boolean {
  return headers['sec-fetch-site'] !== undefined;
}
