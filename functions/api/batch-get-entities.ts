import { BulkRequest, bulkErrors, bulkIdsText, lookUp } from '../../shared/core/http/bulk.ts';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { findSummaries } from '../../shared/core/summary/summary.ts';

export { EntitiesById as response } from '../../shared/core/summary/presented.ts';
export const request = BulkRequest('entity_ids');

export const docs = {
  tag: 'Entities',
  summary: 'Read several entities',
  description: 'Their reviews in numbers.',
  fields: {
    entity_ids: bulkIdsText,
  },
  errors: bulkErrors,
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ query }) => {
  const { found, mapping } = await lookUp(query.entity_ids, findSummaries);
  return { entities: found, entity_id_mapping: mapping };
});
