import { authUrl } from '../../../base/auth-url.ts';
import type { Html } from '../../../pages/frame/layout.ts';
import { tabs } from '../../../pages/frame/lists.ts';

/** Tabs of a person's contributions. */
export function ownTabs(current: 'reviews' | 'votes' | 'names'): Html {
  const account = `${authUrl()}/account`;
  return tabs('Yours', `${account}/${current}`, [
    [`${account}/reviews`, 'Your reviews'],
    [`${account}/votes`, 'Your votes'],
    [`${account}/names`, 'Your corrections'],
  ]);
}
