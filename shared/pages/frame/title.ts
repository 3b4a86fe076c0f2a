import { site } from '../../base/site/site.ts';

/** The title of a page in tabs and bookmarks. That of the home page is the name of the site. */
export function titleInTab(title: string): string {
  const { name } = site();
  return title === name ? name : `${title} · ${name}`;
}
