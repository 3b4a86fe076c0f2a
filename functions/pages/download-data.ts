import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { shareUsed } from '../../shared/base/table/budget.ts';
import { IntegerParameter } from '../../shared/core/http/request.ts';
import { csvOf, type OwnData, readOwnData } from '../../shared/features/account/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { withQuery } from '../../shared/pages/frame/own-url.ts';

export const request = signedIn({
  query: v.object({
    cursor: v.optional(v.string()),
    /** Number of the part that begins at the cursor. */
    from: v.optional(IntegerParameter(1, 9999), '1'),
    file: v.optional(v.literal('yes')),
    /** A table of the reviews alone. */
    format: v.optional(v.literal('csv')),
  }),
});

/** Sends everything stored about the person as a file, or lists links to several files. */
export const handler = page(request, async ({ caller, query }) => {
  const { cursor, from, file, format } = query;
  // Parts that are not found in time, or within the budget, are listed on the next page.
  const end = performance.now() + 4_000;
  let part = await readOwnData(caller.user_id, cursor);
  if (file) return download(part, `-${from}`, format);
  if (cursor === undefined && part.next === undefined) return download(part, '', format);

  const parts = [addressOf({ cursor, from, format, file: 'yes' })];
  while (part.next !== undefined && performance.now() < end && shareUsed() < 0.6) {
    parts.push(addressOf({ cursor: part.next, from: from + parts.length, format, file: 'yes' }));
    part = await readOwnData(caller.user_id, part.next);
  }
  const more = part.next && addressOf({ cursor: part.next, from: from + parts.length, format });
  return {
    title: 'Your data',
    content: html`<section>
      <p>Your data does not fit one file. ${format ? 'Each part is a table. The last parts may have no reviews.' : 'Each part is a JSON document. Its lists continue in the next part.'}</p>
      <ol start="${from}">
        ${parts.map((address, i) => html`<li><a href="${address}">Part ${from + i}</a></li>`)}
      </ol>
      ${more && html`<p><a href="${more}">Show more parts</a></p>`}
    </section>`,
  };
});

function download({ next: _, ...document }: OwnData, part: string, format: 'csv' | undefined) {
  if (format) return { file: `my-reviews${part}.csv`, table: csvOf(document.reviews) };
  return { file: `my-data${part}.json`, document };
}

type PartQuery = {
  cursor: string | undefined;
  from: number;
  format: 'csv' | undefined;
  file?: 'yes';
};

function addressOf(query: PartQuery) {
  return withQuery(`${authUrl()}/account/data`, query);
}
