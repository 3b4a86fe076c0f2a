/** The message of every success. */
export const done = 'Request processed successfully';

/** Returns a text of this length. */
export const letters = (length: number) =>
  'A record that gets better. '
    .repeat(200)
    .slice(0, length - 1)
    .concat('.');

/** A text that is long enough. */
export const text = letters(60);

/** The body of a review of something that nobody has reviewed yet, known by this name. */
export const aReview = (name: string) => ({
  entity_id: `{entity_${name}}`,
  entity_type: 'work',
  text,
  license_choice: 'CC0 1.0',
});

/** The entity types of the specification. */
export const typesOfEntities = [
  'event',
  'place',
  'release_group',
  'work',
  'artist',
  'label',
  'recording',
  'bk_edition_group',
  'bk_literary_work',
  'bk_author',
  'bk_series',
];

/** Returns this many UUIDs of nothing. */
export function ids(length: number): string {
  const id = (index: number) => `00000000-0000-4000-8000-${`${index}`.padStart(12, '0')}`;
  return Array.from({ length }, (_, index) => id(index + 1)).join();
}
