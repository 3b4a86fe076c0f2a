import type { ExportedReview } from './presented.ts';

// Own reviews as a table that spreadsheets and other communities read (RFC 4180).

const columns = [
  'Title',
  'Year',
  'About',
  'Type',
  'Date',
  'Rating',
  'Review',
  'Language',
  'Licence',
  'State',
  'Address',
  'Id',
] as const;

/** Returns a table of reviews as CSV with a byte order mark, without which Excel takes Latin 1. */
export function csvOf(reviews: readonly ExportedReview[]): string {
  const lines = [columns, ...reviews.map(rowOf)].map((row) => row.map(cellOf).join(','));
  return `\ufeff${lines.join('\r\n')}\r\n`;
}

function rowOf(review: ExportedReview): string[] {
  const { entity, entity_type, entity_id, language, license, published_on, created } = review;
  const { text = null, rating = null } = review.revisions.at(-1) ?? {};
  const about = entity?.about ?? '';
  const hidden = review.is_hidden ? 'hidden' : 'public';
  return [
    entity?.name ?? '',
    /\b(1[89]|20)\d\d\b/.exec(about)?.[0] ?? '',
    about,
    entity_type,
    (published_on ?? created).slice(0, 10),
    `${rating ?? ''}`,
    text ?? '',
    language,
    license,
    published_on === null ? 'draft' : hidden,
    entity?.url ?? '',
    entity_id,
  ];
}

/** Quotes a cell. A spreadsheet would run one that begins as a formula. */
function cellOf(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
