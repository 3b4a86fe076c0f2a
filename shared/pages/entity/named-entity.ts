// An entity with its name, as its pages and the frames for other sites show it.
import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../auth-url.ts';
import { type EntityType, nameOfEntity, nameOfEntityType } from '../../entity/entity-type.ts';
import { findKeptMetadata, findMetadata } from '../../entity/metadata.ts';
import type { Metadata } from '../../entity/presented.ts';
import type { EntitySummary } from '../../summary/presented.ts';
import { findSummary } from '../../summary/summary.ts';
import { oneOf } from '../../values.ts';
import type { Html } from '../frame/layout.ts';
import { withQuery } from '../frame/own-url.ts';
import { hostOf } from '../frame/words.ts';

/** An entity with its counts and its name. */
export interface NamedEntity {
  url: string;
  name: string;
  summary: EntitySummary;
  metadata: Metadata | null;
}

/**
 * Reads an entity for its pages, in two round trips. Without reviews it has no type but the
 * `presumed` one. No database is asked for a name then, because anybody may presume anything.
 */
export async function readNamedEntity(
  entity_id: string,
  presumed?: EntityType,
): Promise<NamedEntity> {
  const url = `${authUrl()}/entity/${entity_id}`;
  const summary = await findSummary(entity_id);
  const { entity_type } = summary;
  if (entity_type) {
    const [metadata = null] = await findMetadata([{ entity_id, entity_type }]);
    return { url, name: nameOfEntity({ entity_type }, metadata), summary, metadata };
  }
  const entity = presumed && { entity_id, entity_type: presumed };
  const [metadata = null] = entity ? await findKeptMetadata([entity]) : [];
  return { url, name: metadata?.name ?? 'No reviews yet', summary, metadata };
}

/** Colour scheme of the frame. Without one it follows the reader's settings. */
export const Theme = v.optional(oneOf(['light', 'dark']));
export type Theme = v.InferOutput<typeof Theme>;

/** Size in pixels of the frame that shows the stars of an entity on another site. */
export const embedSize = { width: 320, height: 120 };

interface Frame {
  width: number;
  height: number;
  theme?: Theme | undefined;
}

/** The frame as HTML for another site. */
export function embedCode({ url, name }: NamedEntity, frame: Frame = embedSize): string {
  const { width, height, theme } = frame;
  return `${html`<iframe src="${withQuery(`${url}/embed`, { theme })}" title="Reviews: ${name}" width="${width}" height="${height}" style="border:0" loading="lazy"></iframe>`}`;
}

/** Address at which a site finds the frame for an entity's page (oEmbed). */
export function oembedUrl(url: string): string {
  return withQuery(`${authUrl()}/oembed`, { url, format: 'json' });
}

/** A line about an entity: its type, and a link to the page that describes it, or its id. */
export function entityLine(
  entity: { entity_id: string; entity_type: EntityType },
  metadata: Metadata | null,
): Html {
  const { entity_id, entity_type } = entity;
  const more = metadata
    ? html`, described at <a href="${metadata.url}">${hostOf(metadata.url)}</a>`
    : html` <code>${entity_id}</code>`;
  return html`<p class="soft">${nameOfEntityType(entity_type)}${more}</p>`;
}
