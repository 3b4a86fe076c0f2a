// Times, counts and names as pages write them.
import { html } from 'hono/html';
import type { UserType } from '../../core/user/user-type.ts';
import type { Html } from './layout.ts';

// Without Intl, whose first DateTimeFormat takes a quarter of a cold start.
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** The day of an ISO 8601 time in UTC, as 1 February 2026. */
export function dayOf(iso: string): Html {
  return html`<time datetime="${iso.slice(0, 10)}">${wordsOf(iso)}</time>`;
}

/** An ISO 8601 time in UTC to the minute. */
export function minuteOf(iso: string): Html {
  return html`<time datetime="${iso}">${wordsOf(iso)} at ${iso.slice(11, 16)} UTC</time>`;
}

/** The time since then, as 3 hours. */
export function ageOf(iso: string): Html {
  const minutes = (Date.now() - Date.parse(iso)) / 60_000;
  const units = Object.entries({ day: 1440, hour: 60, minute: 1 });
  const [unit, size] = units.find(([, size]) => minutes >= size) ?? [];
  const age = unit && size ? counted(Math.floor(minutes / size), unit) : 'a moment';
  return html`<time datetime="${iso}">${age.replace(' ', '\u00a0')}</time>`;
}

/** In milliseconds. */
const hour = 3_600_000;
const day = 24 * hour;

/**
 * The time of something that was published: its age under a week, and otherwise its day. The exact
 * time is in `title` and `datetime`.
 *
 * An hour is the smallest unit. Caches keep a page for ten seconds each, so its ages are at most
 * twenty seconds late, which nobody sees in hours. The tag of an unchanged page also stays the same
 * for an hour.
 */
export function when(iso: string): Html {
  const age = Date.now() - Date.parse(iso);
  // The clock of another machine may be ahead.
  if (age < 0 || age >= 7 * day) return dayOf(iso);
  const words =
    age < hour
      ? 'within the hour'
      : `${age < day ? counted(Math.floor(age / hour), 'hour') : counted(Math.floor(age / day), 'day')} ago`;
  return html`<time datetime="${iso}" title="${wordsOf(iso)} at ${iso.slice(11, 16)} UTC">${words}</time>`;
}

function wordsOf(iso: string): string {
  const [year, month, day] = iso.slice(0, 10).split('-').map(Number);
  return `${day} ${months[Number(month) - 1]} ${year}`;
}

/** A user type as pages call it. The API has to call beginners by a mocking name. */
export function nameOfType({ label }: UserType): string {
  return label === 'Noob' ? 'New' : label;
}

/** A count with its noun, as 1 review or 2 reviews. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Words for the number of people who use an application. */
export function peopleOf({ count, isMore }: { count: number; isMore: boolean }): string {
  if (isMore) return `${count} people or more`;
  if (count === 0) return 'nobody yet';
  return count === 1 ? '1 person' : `${count} people`;
}

/** The time for which backups are kept, if the operator has said so: for up to 35 days. */
export function backupsInWords(): string {
  const days = Number(process.env.BACKUP_DAYS);
  return days > 0 ? `, for up to ${counted(days, 'day')}` : '';
}

/** The host of a registered URL. */
export function hostOf(url: string): string {
  return new URL(url).host;
}
