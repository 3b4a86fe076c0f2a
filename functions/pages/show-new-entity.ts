import * as v from 'valibot';
import { newEntityPage } from '../../shared/pages/entity/new-entity-page.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const request = signedIn({
  query: v.object({
    name: v.optional(v.string(), ''),
    entity_type: v.optional(v.string(), ''),
  }),
});

/** Shows the form to add something of a type of this service. */
export const handler = page(request, ({ query }, { visitor }) =>
  newEntityPage(visitor, { values: query, faults: {} }),
);
