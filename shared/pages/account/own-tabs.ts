import { authUrl } from '../../auth-url.ts';
import type { Html } from '../frame/layout.ts';
import { tabs } from '../frame/lists.ts';

/** Tabs of a person's contributions. */
export function ownTabs(current: 'reviews' | 'votes' | 'names'): Html {
  const account = `${authUrl()}/account`;
  return tabs('Yours', `${account}/${current}`, [
    [`${account}/reviews`, 'Your reviews'],
    [`${account}/votes`, 'Your votes'],
    [`${account}/names`, 'Your corrections'],
  ]);
}
