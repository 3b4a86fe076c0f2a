import { BulkRequest, bulkErrors, bulkIdsText, lookUp } from '../../shared/http/bulk.ts';
import { type Docs, endpoint } from '../../shared/http/endpoint.ts';
import { findSummaries } from '../../shared/summary/summary.ts';

export { EntitiesById as response } from '../../shared/summary/presented.ts';
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
