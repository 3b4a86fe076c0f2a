// Addresses of the pages of a thing: its own, and the forms to review it or to add one.
import { authUrl } from '../../base/auth-url.ts';
import type { Entity } from '../../core/entity/record.ts';
import { withQuery } from '../frame/own-url.ts';

/** Address of the page of a thing. */
export function entityUrl({ entity_id, entity_type }: Partial<Entity>): string {
  return withQuery(`${authUrl()}/entity/${entity_id}`, { entity_type });
}

/** Address of the form to review a thing. */
export function newReviewUrl({ entity_id, entity_type }: Entity): string {
  return withQuery(`${authUrl()}/review/new`, { entity_id, entity_type });
}

/** Address of the form to add a thing, with a name that somebody has searched for. */
export function newThingUrl(query: { name?: string; entity_type?: string } = {}): string {
  return withQuery(`${authUrl()}/entity/new`, query);
}
