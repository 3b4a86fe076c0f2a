import Validator from '@adobe/structured-data-validator';

/** Classes of schema.org with the classes above them, as far as they are used here. */
const classes: Record<string, readonly string[]> = {
  Thing: [],
  CreativeWork: ['Thing'],
  Intangible: ['Thing'],
  Event: ['Thing'],
  Organization: ['Thing'],
  Person: ['Thing'],
  Place: ['Thing'],
  Rating: ['Intangible'],
  AggregateRating: ['Rating'],
  Review: ['CreativeWork'],
  Book: ['CreativeWork'],
  CreativeWorkSeries: ['CreativeWork'],
  BookSeries: ['CreativeWorkSeries'],
  MusicComposition: ['CreativeWork'],
  MusicPlaylist: ['CreativeWork'],
  MusicAlbum: ['MusicPlaylist'],
  MusicRecording: ['CreativeWork'],
  PerformingGroup: ['Organization'],
  MusicGroup: ['PerformingGroup'],
};

/** Properties of schema.org with the classes that they belong to. */
const properties: Record<string, readonly string[]> = {
  disambiguatingDescription: ['Thing'],
  image: ['Thing'],
  name: ['Thing'],
  sameAs: ['Thing'],
  url: ['Thing'],
  author: ['CreativeWork', 'Rating'],
  byArtist: ['MusicAlbum', 'MusicRecording'],
  dateModified: ['CreativeWork'],
  datePublished: ['CreativeWork'],
  startDate: ['Event'],
  inLanguage: ['CreativeWork', 'Event'],
  license: ['CreativeWork'],
  itemReviewed: ['AggregateRating', 'Review'],
  reviewBody: ['Review'],
  reviewRating: ['Review'],
  bestRating: ['Rating'],
  ratingValue: ['Rating'],
  worstRating: ['Rating'],
  ratingCount: ['AggregateRating'],
  reviewCount: ['AggregateRating'],
};

const named = (names: readonly string[]) => names.map((name) => ({ '@id': `schema:${name}` }));

/** The form in which schema.org publishes its vocabulary. */
const vocabulary = {
  '@graph': [
    ...Object.entries(classes).map(([name, parents]) => ({
      '@id': `schema:${name}`,
      '@type': 'rdfs:Class',
      'rdfs:subClassOf': named(parents),
    })),
    ...Object.entries(properties).map(([name, domains]) => ({
      '@id': `schema:${name}`,
      '@type': 'rdf:Property',
      'schema:domainIncludes': named(domains),
    })),
  ],
};

/** The structured data of a page; undefined where it has none. Throws where another script is. */
export function dataIn(page: string): Record<string, unknown> | undefined {
  const scripts = [...page.matchAll(/<script([^>]*)>([\s\S]*?)<\/script/gi)];
  const [[, attributes, text = ''] = []] = scripts;
  if (scripts.length === 0) return undefined;
  if (scripts.length > 1 || attributes !== ' type="application/ld+json"') throw new Error(page);
  return JSON.parse(text);
}

/**
 * Faults that search engines would find: what Google requires of these types, and what schema.org
 * does not know.
 */
export async function faultsIn(data: Record<string, unknown>): Promise<string[]> {
  const extracted = { jsonld: { [`${data['@type']}`]: [structuredClone(data)] } };
  const issues = await new Validator(vocabulary).validate(extracted);
  return issues.map(({ issueMessage }) => issueMessage);
}
