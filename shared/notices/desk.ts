// The letter to moderators about what waits. It says how much, and nothing of what people wrote.
import { authUrl } from '../auth-url.ts';
import { countWaiting } from '../moderation/desk.ts';
import type { Letter } from './letter.ts';

/** Returns the letter, or undefined if nothing waits. Reads up to 12.5 units. */
export async function deskLetter(): Promise<Letter | undefined> {
  const count = await countWaiting();
  if (count === 0) return undefined;
  const text =
    count === 1 ? 'Something waits for a moderator.' : `${count} things wait for moderators.`;
  return {
    subject: 'A moderator is needed',
    lines: [{ text, url: `${authUrl()}/account/moderation` }],
  };
}
