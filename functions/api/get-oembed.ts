import * as v from 'valibot';
import { authUrl } from '../../shared/auth-url.ts';
import { notFound, notImplemented } from '../../shared/errors.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { Answer, brieflyShared } from '../../shared/http/response.ts';
import {
  embedCode,
  embedSize,
  readNamedEntity,
  Theme,
} from '../../shared/pages/entity/named-entity.ts';
import { Uuid } from '../../shared/values.ts';

const Pixels = v.optional(
  v.pipe(
    v.string(),
    v.regex(/^0*[1-9]\d*$/, 'must be an integer of at least 1'),
    v.transform(Number),
  ),
);

export const request = v.object({
  query: v.object({
    url: v.string(),
    format: v.optional(v.string(), 'json'),
    maxwidth: Pixels,
    maxheight: Pixels,
  }),
});

/** Returns the frame of an entity to a site that knows only the page's address (oEmbed 1.0). */
export const handler = endpoint(request, async ({ query }) => {
  const { url, format, maxwidth = embedSize.width, maxheight = embedSize.height } = query;
  if (format !== 'json') throw notImplemented('format must be json');
  const { id, theme } = readPage(url);
  const entity = await readNamedEntity(id);
  const width = Math.min(maxwidth, embedSize.width);
  const height = Math.min(maxheight, embedSize.height);
  const document = {
    version: '1.0',
    type: 'rich',
    title: entity.name,
    provider_name: 'Reviews',
    provider_url: `${authUrl()}/`,
    html: embedCode(entity, { width, height, theme }),
    width,
    height,
  };
  return new Answer(document, { headers: { 'Cache-Control': brieflyShared } });
});

/**
 * Reads the id from the address of an entity's page, and a theme from its query. Throws ApiError
 * 404 for any other address.
 */
function readPage(address: string): { id: string; theme: Theme } {
  const page = URL.parse(address);
  const prefix = `${authUrl()}/entity/`;
  const url = `${page?.origin}${page?.pathname}`;
  const id = url.startsWith(prefix) ? url.slice(prefix.length).replace(/\/$/, '') : '';
  const read = v.safeParse(Uuid, id);
  if (!read.success) throw notFound('Page');
  const theme = v.safeParse(Theme, page?.searchParams.get('theme') ?? undefined);
  return { id: read.output, theme: theme.success ? theme.output : undefined };
}
