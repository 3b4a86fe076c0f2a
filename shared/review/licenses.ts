export interface License {
  id: string;
  full_name: string;
  info_url: string;
}

/** Licences that a review may be published under. */
export const licenses: readonly License[] = [
  ['CC BY-SA 3.0', 'Attribution-ShareAlike 3.0 Unported', 'licenses/by-sa/3.0'],
  ['CC BY-NC-SA 3.0', 'Attribution-NonCommercial-ShareAlike 3.0 Unported', 'licenses/by-nc-sa/3.0'],
  ['CC BY 4.0', 'Attribution 4.0 International', 'licenses/by/4.0'],
  ['CC BY-SA 4.0', 'Attribution-ShareAlike 4.0 International', 'licenses/by-sa/4.0'],
  [
    'CC BY-NC-SA 4.0',
    'Attribution-NonCommercial-ShareAlike 4.0 International',
    'licenses/by-nc-sa/4.0',
  ],
  ['CC0 1.0', 'Zero 1.0 Universal', 'publicdomain/zero/1.0'],
].map(([id = '', name, path]) => {
  const info_url = `https://creativecommons.org/${path}/`;
  return { id, full_name: `Creative Commons ${name}`, info_url };
});

export function licenseOf({ license }: { license: string }): License {
  return licenses.find(({ id }) => id === license) as License;
}
