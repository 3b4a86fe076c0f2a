import { html } from 'hono/html';
import type { Html } from './layout.ts';

const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
const minutes = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
});

/** The day of an ISO 8601 time, in UTC. */
export function dayOf(iso: string): Html {
  return html`<time datetime="${iso.slice(0, 10)}">${days.format(new Date(iso))}</time>`;
}

/** An ISO 8601 time to the minute, in UTC. */
export function minuteOf(iso: string): Html {
  return html`<time datetime="${iso}">${minutes.format(new Date(iso))} UTC</time>`;
}

/** How many people an application has. */
export function peopleOf({ count, isMore }: { count: number; isMore: boolean }): string {
  if (isMore) return `${count} people or more`;
  if (count === 0) return 'nobody yet';
  return count === 1 ? '1 person' : `${count} people`;
}

/** The host of a URL that was checked when it was registered; of what was registered before that, all of it. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}
