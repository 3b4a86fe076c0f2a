// Files of other services, which people try to import.

/** Services by what the first line of their CSV files contains. */
const services: Readonly<Record<string, RegExp>> = {
  Letterboxd: /letterboxd/i,
  Goodreads: /\bbook id\b.*\bmy rating\b/i,
  StoryGraph: /\bISBN\/UID\b/i,
};

/** Formats by the first bytes of a file, with what to do. */
const archives: readonly [name: string, first: string, then: string][] = [
  ['a zip archive', 'PK\x03\x04', 'Unpack it first'],
  ['a bzip2 archive', 'BZh', 'A dump of CritiqueBrainz needs --format critiquebrainz'],
];

const guide =
  'The guide “Bring members of another system” (.github/docs/operate.md) has the format to write';

/** Names the archive that the bytes begin, with what to do. Undefined for anything else. */
export function archiveIn(bytes: Buffer): string | undefined {
  const found = archives.find(([, first]) => bytes.indexOf(first, 0, 'latin1') === 0);
  return found && `this is ${found[0]}, not an export. ${found[2]}`;
}

/** Names the file that the first line begins, with what to do. Undefined for anything else. */
export function foreignFile(line: string): string | undefined {
  const isTable = !line.startsWith('{') && line.split(/[,;\t]/).length > 2;
  const found = Object.entries(services).find(([, form]) => form.test(line));
  if (found) return `this is a file of ${found[0]}, not an export of this service. ${guide}`;
  return isTable ? `this is a table (CSV), not an export of this service. ${guide}` : undefined;
}
