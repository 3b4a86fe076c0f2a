import * as v from 'valibot';
import { findSummaries } from '../shared/entity/summary.ts';
import type { Docs } from '../shared/http/docs.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { BulkIds, BulkQueryString } from '../shared/http/request.ts';
import { EntitiesById } from '../shared/review/presented.ts';

export const request = v.object({
  query_string: BulkQueryString,
  query: v.object({ entity_ids: BulkIds(100) }),
});

export const response = EntitiesById;

export const docs = {
  tag: 'Entities',
  summary: 'Read what people think of several entities',
  description: 'In numbers, without reviews.',
  fields: {
    entity_ids:
      'At most 100 ids, separated by commas. A UUID may be in any case, with hyphens or without, in braces or after `urn:uuid:`',
  },
  errors: {
    invalid_request: 'There is no id or there are more than 100, or one is no UUID.',
    service_unavailable: 'The query string has more than 4096 characters, or the service is busy.',
  },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ query: { entity_ids } }) => {
  const summaries = await findSummaries([...new Set(entity_ids.values())]);
  return {
    entities: Object.fromEntries(summaries.map((summary) => [summary.id, summary])),
    entity_id_mapping: Object.fromEntries(entity_ids),
  };
});
