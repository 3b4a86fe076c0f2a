export interface License {
  id: string;
  full_name: string;
  info_url: string;
}

const site = 'https://creativecommons.org';

/** Licences that a review may be published under. */
export const licenses: readonly License[] = [
  {
    id: 'CC BY-SA 3.0',
    full_name: 'Creative Commons Attribution-ShareAlike 3.0 Unported',
    info_url: `${site}/licenses/by-sa/3.0/`,
  },
  {
    id: 'CC BY-NC-SA 3.0',
    full_name: 'Creative Commons Attribution-NonCommercial-ShareAlike 3.0 Unported',
    info_url: `${site}/licenses/by-nc-sa/3.0/`,
  },
  {
    id: 'CC BY 4.0',
    full_name: 'Creative Commons Attribution 4.0 International',
    info_url: `${site}/licenses/by/4.0/`,
  },
  {
    id: 'CC BY-SA 4.0',
    full_name: 'Creative Commons Attribution-ShareAlike 4.0 International',
    info_url: `${site}/licenses/by-sa/4.0/`,
  },
  {
    id: 'CC BY-NC-SA 4.0',
    full_name: 'Creative Commons Attribution-NonCommercial-ShareAlike 4.0 International',
    info_url: `${site}/licenses/by-nc-sa/4.0/`,
  },
  {
    id: 'CC0 1.0',
    full_name: 'Creative Commons Zero 1.0 Universal',
    info_url: `${site}/publicdomain/zero/1.0/`,
  },
];

/** The licence of a stored review: only one of these was ever stored. */
export function licenseOf({ license }: { license: string }): License {
  return licenses.find(({ id }) => id === license) as License;
}
