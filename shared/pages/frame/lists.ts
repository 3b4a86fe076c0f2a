// Lists, tables and tabs on pages, with links to the next page.
import { html } from 'hono/html';
import * as v from 'valibot';
import { readFromCursor } from '../../base/list/cursor.ts';
import type { SortKey } from '../../base/table/item.ts';
import type { Html } from './layout.ts';
import { withQuery } from './own-url.ts';

/** Entries of a list on a page. */
export const perPage = 20;

/** The query of a page with a list. */
export const CursorQuery = v.object({ cursor: v.optional(v.string()) });

/**
 * Reads a page of a list by date. `list` names the list and its owner, for its cursors. Throws
 * ApiError 400 for a cursor of another list.
 */
export async function readDated<T extends { next?: SortKey }>(
  list: object,
  start: string | undefined,
  read: (limit: number, after?: SortKey) => Promise<T>,
  limit = perPage,
): Promise<T & { cursor: string | undefined }> {
  const { page, endAfter } = await readFromCursor(
    { ...list, sort: 'date' },
    { offset: 0, limit, cursor: start },
    ({ after }) => read(limit, after),
  );
  return { ...page, cursor: endAfter().cursor };
}

/** The link to the next page of a list. */
export function nextPage(url: string, cursor: string | undefined, query = {}): Html | '' {
  if (cursor === undefined) return '';
  const next = withQuery(url, { ...query, cursor });
  return html`<p><a class="button quiet" href="${next}">Next page</a></p>`;
}

/** A row of links, with the current one marked: addresses with names. As chips to filter a list. */
export function tabs(
  label: string,
  current: string,
  links: readonly (readonly [href: string, name: string])[],
  look: 'choice' | 'chips' = 'choice',
): Html {
  return html`<nav class="${look}" aria-label="${label}">${links.map(
    ([href, name]) =>
      html`<a href="${href}"${look === 'chips' && html` class="chip"`}${href === current && html` aria-current="page"`}>${name}</a>`,
  )}</nav>`;
}

/** A table, or `none` without rows. A phone stacks the cells of a row under their column names. */
export function rowsUnder(
  columns: readonly string[],
  rows: readonly (Html | string)[][],
  none: Html,
): Html {
  if (rows.length === 0) return none;
  return html`<table class="rows stack">
    <thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map(
      (cells) =>
        html`<tr>${cells.map((cell, i) => html`<td data-name="${columns[i]}">${cell}</td>`)}</tr>`,
    )}</tbody>
  </table>`;
}
