export interface License {
  id: string;
  full_name: string;
  info_url: string;
}

/** Licences that a review may be published under. */
export const licenses: readonly License[] = [
  license('CC BY-SA 3.0', 'Attribution-ShareAlike 3.0 Unported', 'by-sa/3.0'),
  license('CC BY-NC-SA 3.0', 'Attribution-NonCommercial-ShareAlike 3.0 Unported', 'by-nc-sa/3.0'),
  license('CC BY 4.0', 'Attribution 4.0 International', 'by/4.0'),
  license('CC BY-SA 4.0', 'Attribution-ShareAlike 4.0 International', 'by-sa/4.0'),
  license(
    'CC BY-NC-SA 4.0',
    'Attribution-NonCommercial-ShareAlike 4.0 International',
    'by-nc-sa/4.0',
  ),
  license('CC0 1.0', 'Zero 1.0 Universal', 'zero/1.0', 'publicdomain'),
];

function license(id: string, name: string, path: string, folder = 'licenses'): License {
  const info_url = `https://creativecommons.org/${folder}/${path}/`;
  return { id, full_name: `Creative Commons ${name}`, info_url };
}

/** Returns the licence of a stored review: only one of these was ever stored. */
export function licenseOf({ license }: { license: string }): License {
  return licenses.find(({ id }) => id === license) as License;
}
