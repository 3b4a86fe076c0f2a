import * as v from 'valibot';
import { endpoint } from '../shared/http/endpoint.ts';
import { BulkIds, BulkQueryString } from '../shared/http/request.ts';
import { findSummaries } from '../shared/review/entity-summary.ts';

export const request = v.object({
  query_string: BulkQueryString,
  query: v.object({ entity_ids: BulkIds(100) }),
});

export const handler = endpoint(request, async ({ query: { entity_ids } }) => {
  const summaries = await findSummaries([...new Set(entity_ids.values())]);
  return {
    entities: Object.fromEntries(summaries.map((summary) => [summary.id, summary])),
    entity_id_mapping: Object.fromEntries(entity_ids),
  };
});
