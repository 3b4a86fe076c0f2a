// The files that other sites export, by the headers of their tables.

/** A site, and the columns of its file. The first column of a field that has something counts. */
interface Site {
  name: string;
  /** The files that its export has for this. */
  files: string;
  /** Columns by which the file is told from any other. */
  tells: readonly string[];
  title: string;
  by?: string;
  year?: readonly string[];
  rating: string;
  text: string;
  date: readonly string[];
  /** Words of the types of things that it is about, the best first. */
  types: readonly string[];
}

export const sites = {
  letterboxd: {
    name: 'Letterboxd',
    files: 'reviews.csv, ratings.csv or diary.csv',
    tells: ['Name', 'Year', 'Letterboxd URI', 'Rating'],
    title: 'Name',
    year: ['Year'],
    rating: 'Rating',
    text: 'Review',
    date: ['Watched Date', 'Date'],
    types: ['film', 'movie'],
  },
  goodreads: {
    name: 'Goodreads',
    files: 'goodreads_library_export.csv',
    tells: ['Book Id', 'Title', 'Author', 'My Rating'],
    title: 'Title',
    by: 'Author',
    year: ['Original Publication Year', 'Year Published'],
    rating: 'My Rating',
    text: 'My Review',
    date: ['Date Read', 'Date Added'],
    types: ['book', 'bk_literary_work'],
  },
  storygraph: {
    name: 'StoryGraph',
    files: 'the file of “Export StoryGraph Library”',
    tells: ['Title', 'Authors', 'Read Status', 'Star Rating'],
    title: 'Title',
    by: 'Authors',
    rating: 'Star Rating',
    text: 'Review',
    date: ['Last Date Read', 'Date Added'],
    types: ['book', 'bk_literary_work'],
  },
} as const satisfies Record<string, Site>;

export type SiteName = keyof typeof sites;

export const siteNames = Object.keys(sites) as [SiteName, ...SiteName[]];

/** Returns the site whose file has this header, if it is one of ours. */
export function siteOf(header: readonly string[]): SiteName | undefined {
  return siteNames.find((name) => sites[name].tells.every((column) => header.includes(column)));
}

/** Returns a site with all that may be absent. */
export function columnsOf(name: SiteName): Site {
  return sites[name];
}
