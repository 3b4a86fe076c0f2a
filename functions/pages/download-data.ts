import { html } from 'hono/html';
import * as v from 'valibot';
import { readOwnData } from '../../shared/account/export.ts';
import type { OwnData } from '../../shared/account/presented.ts';
import { authUrl } from '../../shared/auth-url.ts';
import { IntegerParameter } from '../../shared/http/request.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { withQuery } from '../../shared/pages/frame/own-url.ts';
import { shareUsed } from '../../shared/table/budget.ts';

export const request = signedIn({
  query: v.object({
    cursor: v.optional(v.string()),
    /** Number of the part that begins at the cursor. */
    from: v.optional(IntegerParameter(1, 9999), '1'),
    file: v.optional(v.literal('yes')),
  }),
});

/** Sends everything stored about the person as a file, or lists links to several files. */
export const handler = page(request, async ({ caller, query }) => {
  const { cursor, from, file } = query;
  // Parts that are not found in time, or within the budget, are listed on the next page.
  const end = performance.now() + 4_000;
  let part = await readOwnData(caller.user_id, cursor);
  if (file) return download(part, `my-data-${from}.json`);
  if (cursor === undefined && part.next === undefined) return download(part, 'my-data.json');

  const parts = [addressOf({ cursor, from, file: 'yes' })];
  while (part.next !== undefined && performance.now() < end && shareUsed() < 0.6) {
    parts.push(addressOf({ cursor: part.next, from: from + parts.length, file: 'yes' }));
    part = await readOwnData(caller.user_id, part.next);
  }
  const more = part.next && addressOf({ cursor: part.next, from: from + parts.length });
  return {
    title: 'Your data',
    content: html`<section>
      <p>Your data does not fit one file. Each part is a JSON document. Its lists continue in the next part.</p>
      <ol start="${from}">
        ${parts.map((address, i) => html`<li><a href="${address}">Part ${from + i}</a></li>`)}
      </ol>
      ${more && html`<p><a href="${more}">Show more parts</a></p>`}
    </section>`,
  };
});

function download({ next: _, ...document }: OwnData, file: string) {
  return { file, document };
}

function addressOf(query: { cursor: string | undefined; from: number; file?: 'yes' }) {
  return withQuery(`${authUrl()}/account/data`, query);
}
