// An entity with its name, as its pages and the frames for other sites show it.
import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../base/auth-url.ts';
import { oneOf } from '../../base/values.ts';
import {
  type EntityType,
  nameOfEntity,
  nameOfEntityType,
  titleOfEntity,
} from '../../core/entity/entity-type.ts';
import { findRecord, type KnownEntity, knownEntity } from '../../core/entity/metadata.ts';
import { publicPageOf } from '../../core/entity/pasted.ts';
import type { Metadata } from '../../core/entity/presented.ts';
import type { EntityRecord } from '../../core/entity/record.ts';
import { isNameFor } from '../../core/entity/state.ts';
import type { EntitySummary } from '../../core/summary/presented.ts';
import { findSummary, findSummaryWith } from '../../core/summary/summary.ts';
import { attributeList } from '../form/fields.ts';
import type { Html, Visitor } from '../frame/layout.ts';
import { withQuery } from '../frame/own-url.ts';
import { viewerOf } from '../frame/person.ts';
import { hostOf } from '../frame/words.ts';
import { entityUrl } from './addresses.ts';

/** An entity with its counts and its name. */
export interface NamedEntity {
  url: string;
  name: string;
  /** The name and what tells it apart, for places that show nothing else. */
  title: string;
  /** Absent without reviews, if nothing else tells the type. */
  entity_type?: EntityType | undefined;
  /** With the reviews of things that lead to it. */
  summary: EntitySummary;
  /** The things that lead to it. */
  led_from: readonly string[];
  metadata: KnownEntity | null;
}

/**
 * Reads an entity for its pages, in two round trips, or three if others lead to it. Without reviews
 * it has the `presumed` type, or the one that it has a name of. The person who reads the page may
 * know a name that waits.
 */
export async function readNamedEntity(
  entity_id: string,
  presumed?: EntityType,
  reading?: Promise<Visitor | undefined>,
): Promise<NamedEntity> {
  const url = `${authUrl()}/entity/${entity_id}`;
  const [alone, visitor] = await Promise.all([findSummary(entity_id), reading]);
  const type = alone.entity_type ?? presumed;
  const viewer = viewerOf(visitor);
  const isShown = (record: EntityRecord) => isNameFor(record, viewer);
  const record = await findRecord(entity_id, type ?? null, isShown);
  const { led_from = [] } = record ?? {};
  const summary = led_from.length > 0 ? await findSummaryWith(entity_id, led_from) : alone;
  const entity_type = type ?? record?.entity_type;
  if (!entity_type) {
    const name = 'No reviews yet';
    return { url, name, title: name, summary, led_from: [], metadata: null };
  }
  const entity = { entity_id, entity_type };
  const metadata = record ? knownEntity(record) : null;
  return {
    url,
    name: nameOfEntity(entity, metadata),
    title: titleOfEntity(entity, metadata),
    entity_type,
    summary,
    led_from,
    metadata,
  };
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
export function embedCode({ url, title }: NamedEntity, frame: Frame = embedSize): string {
  const { width, height, theme } = frame;
  return `${html`<iframe src="${withQuery(`${url}/embed`, { theme })}" title="Reviews: ${title}" width="${width}" height="${height}" style="border:0" loading="lazy"></iframe>`}`;
}

/** Address at which a site finds the frame for an entity's page (oEmbed). */
export function oembedUrl(url: string): string {
  return withQuery(`${authUrl()}/oembed`, { url, format: 'json' });
}

/** The name of a thing, which leads to its page, and what tells it from others of its name. */
export function linkToThing({ id: entity_id, type: entity_type, name, about }: KnownEntity): Html {
  const url = entityUrl({ entity_id, entity_type });
  return html`<a href="${url}"><bdi>${name}</bdi></a>${about && html` <span class="soft"><bdi>${about}</bdi></span>`}`;
}

/** The line under the name of an entity: its type, and what tells it from others of its name. */
export function aboutLine(entity: TypedEntity, metadata: About | null | undefined): Html {
  return html`<p class="soft">${about(entity, metadata)}</p>`;
}

/**
 * As `aboutLine`, with a link to the page that describes the entity, and links that follow it.
 * Without a name, it has the id. Above a form it opens a tab.
 */
export function entityLine(
  entity: TypedEntity & { entity_id: string },
  metadata: Metadata | null,
  { more = [], opensTab = false }: { more?: readonly Html[]; opensTab?: boolean } = {},
): Html {
  const { entity_id, entity_type } = entity;
  const page = metadata?.url ?? publicPageOf(entity_type, entity_id);
  const isElsewhere = page !== `${authUrl()}/entity/${entity_id}`;
  // A person may have given another address.
  const isByPerson = page !== publicPageOf(entity_type, entity_id);
  const rel = [...(isByPerson ? ['nofollow', 'ugc'] : []), ...(opensTab ? ['noreferrer'] : [])];
  const attributes = attributeList({
    href: page,
    target: opensTab ? '_blank' : undefined,
    rel: rel.join(' ') || undefined,
  });
  return html`<p class="soft">
    ${about(entity, metadata)}${!metadata && html` <code>${entity_id}</code>`}${isElsewhere && html`, described at <a${attributes}>${hostOf(page)}</a>`}${more.map((link) => html` · ${link}`)}
  </p>`;
}

type TypedEntity = { entity_type: EntityType };
type About = Pick<Metadata, 'about'>;

function about({ entity_type }: TypedEntity, metadata: About | null | undefined): Html {
  const name = nameOfEntityType(entity_type);
  return html`${name}${metadata?.about && html` · <bdi>${metadata.about}</bdi>`}`;
}
