// The rendered guides at /docs.
import generated from './guides.json' with { type: 'json' };

/** A guide. Its HTML is safe, because the renderer escapes HTML in Markdown. */
export type Guide = (typeof generated.guides)[number];

/** The guides in the order of the menu, which `npm run generate` makes from infra/guides. */
export const guides: readonly Guide[] = generated.guides;

/** The thing that commands of guides are about: one that a place without albums has too. */
export interface Example {
  id: string;
  type: string;
  name: string;
}

/** The example in the files. */
const usual: Example = {
  id: '8e8a594f-2175-38c7-a871-abb68ec363e7',
  type: 'release_group',
  name: 'Kind of Blue',
};

/** Guides whose commands work with any thing. Others explain the ids of music and books. */
const withExample = ['quickstart', 'publishing', 'lists', 'embed'];

/** A second thing in the commands of guides. */
const other = '77cf47ba-58cd-3f3d-a5f9-79bf89860421';

/** Returns the HTML of a guide, with the addresses of this {auth_url}, and about this thing. */
export function guideAt({ slug, html }: Guide, authUrl: string, example = usual): string {
  const own = html.replaceAll(generated.authUrl, () => authUrl);
  if (example === usual || !withExample.includes(slug)) return own;
  const name = example.name
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;');
  return own
    .replaceAll(usual.id, example.id)
    .replaceAll(other, example.id)
    .replaceAll(usual.type, example.type)
    .replaceAll(usual.name, () => name);
}
