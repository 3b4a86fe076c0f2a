import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { notFound, notImplemented } from '../../shared/base/errors.ts';
import { site } from '../../shared/base/site/site.ts';
import { Matching, Uuid } from '../../shared/base/values.ts';
import { titleOfEntity } from '../../shared/core/entity/entity-type.ts';
import { findMetadata } from '../../shared/core/entity/metadata.ts';
import { endpoint } from '../../shared/core/http/endpoint.ts';
import { Answer, brieflyShared } from '../../shared/core/http/response.ts';
import { getPublicReview } from '../../shared/core/review/read-reviews.ts';
import {
  embedCode,
  embedSize,
  readNamedEntity,
  Theme,
} from '../../shared/pages/entity/named-entity.ts';

const Pixels = v.optional(
  v.pipe(Matching(/^0*[1-9]\d*$/, 'must be an integer of at least 1'), v.transform(Number)),
);

export const request = v.object({
  query: v.object({
    url: v.string(),
    format: v.optional(v.string(), 'json'),
    maxwidth: Pixels,
    maxheight: Pixels,
  }),
});

/**
 * Describes a page to a site that knows only its address (oEmbed 1.0): the frame of an entity, or
 * title and author of a review.
 */
export const handler = endpoint(request, async ({ query }) => {
  if (query.format !== 'json') throw notImplemented('format must be json');
  const { kind, id, theme } = readPage(query.url);
  const described =
    kind === 'entity' ? await describeFrame(id, { ...query, theme }) : await describeReview(id);
  const document = {
    version: '1.0',
    ...described,
    provider_name: site().name,
    provider_url: `${authUrl()}/`,
  };
  return new Answer(document, { headers: { 'Cache-Control': brieflyShared } });
});

async function describeFrame(
  entityId: string,
  {
    maxwidth = embedSize.width,
    maxheight = embedSize.height,
    theme,
  }: { maxwidth?: number; maxheight?: number; theme: Theme },
) {
  const entity = await readNamedEntity(entityId);
  const width = Math.min(maxwidth, embedSize.width);
  const height = Math.min(maxheight, embedSize.height);
  const html = embedCode(entity, { width, height, theme });
  return { type: 'rich', title: entity.title, html, width, height };
}

/** Describes a review, which has no frame: a site makes a card of title and author. */
async function describeReview(reviewId: string) {
  const { review, author } = await getPublicReview(reviewId);
  const [metadata = null] = await findMetadata([review]);
  return {
    type: 'link',
    title: `${titleOfEntity(review, metadata)}, reviewed by ${author.display_name}`,
    author_name: author.display_name,
    author_url: `${authUrl()}/user/${author.id}`,
  };
}

/**
 * Reads kind and id from the address of the page of an entity or review, and a theme from its
 * query. Throws ApiError 404 for any other address.
 */
function readPage(address: string): { kind: string; id: string; theme: Theme } {
  const page = URL.parse(address);
  const url = `${page?.origin}${page?.pathname}`;
  const path = url.startsWith(`${authUrl()}/`) ? url.slice(authUrl().length) : '';
  const [, kind = '', id] = /^\/(entity|review)\/([^/]+)\/?$/.exec(path) ?? [];
  const read = v.safeParse(Uuid, id);
  if (!read.success) throw notFound('Page');
  const theme = v.safeParse(Theme, page?.searchParams.get('theme') ?? undefined);
  return { kind, id: read.output, theme: theme.success ? theme.output : undefined };
}
