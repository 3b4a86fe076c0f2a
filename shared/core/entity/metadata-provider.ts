import { type Database, databases } from './databases.ts';
import type { EntityGroup, EntityType } from './entity-type.ts';

// Settings of the music and book databases, and the pages of entities there.

/** A configured music or book database (see README.md). */
export interface Provider {
  group: Database;
  /** URL templates of the JSON API and of the page for people. */
  api: string;
  page: string;
  /** User-Agent of our requests. */
  agent: string;
  /** Milliseconds between two requests by all our processes, or 0. */
  interval: number;
}

/** Returns the settings of a database, whether or not it is configured. */
export function settingsOf(
  group: Database,
): Partial<Omit<Provider, 'group'>> & Pick<Provider, 'agent' | 'interval'> {
  const prefix = group.toUpperCase();
  return {
    api: process.env[`${prefix}_API`],
    page: process.env[`${prefix}_PAGE`],
    agent: process.env[`${prefix}_AGENT`] || 'review-service',
    interval: Number(process.env[`${prefix}_INTERVAL`]) || 0,
  };
}

/** Returns the database of a group, if it has one that is configured. */
export function providerOf(group: EntityGroup): Provider | undefined {
  if (group === 'own') return undefined;
  const { api, page, ...others } = settingsOf(group);
  return api && page ? { group, api, page, ...others } : undefined;
}

/** Returns the databases that are configured. */
export function providers(): Provider[] {
  return (Object.keys(databases) as Database[]).flatMap((group) => providerOf(group) ?? []);
}

/** Returns the page of an entity in its database, for people. */
export function pageOf({ page }: Pick<Provider, 'page'>, type: EntityType, id: string): string {
  return fill(page, type, id);
}

/** Fills in the type and the id. */
export function fill(template: string, type: EntityType, id: string): string {
  return withType(template, type).replace('{id}', id);
}

/** Fills in the type as its database spells it, such as `release-group`. */
export function withType(template: string, type: EntityType): string {
  return template.replace('{type}', type.replace(/^bk_(literary_)?/, '').replaceAll('_', '-'));
}
