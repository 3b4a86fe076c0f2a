// The letter to moderators about what waits. It says how much, and nothing of what people wrote.
import { authUrl } from '../../base/auth-url.ts';
import { countByKind, type DeskKind } from '../../core/report/desk.ts';
import type { Letter } from './letter.ts';

/** Words for one thing of a kind, and for several. 100 stands for 100 or more. */
const words: Readonly<Record<DeskKind, readonly [one: string, many: string]>> = {
  report: ['reported review', 'reported reviews'],
  held: ['review or text of a new author', 'reviews or texts of new authors'],
  appeal: ['appeal', 'appeals'],
  proposal: ['correction of a name', 'corrections of names'],
  name: ['new name', 'new names'],
};

/** Returns the letter, or undefined if nothing waits. Reads up to 12.5 units. */
export async function deskLetter(): Promise<Letter | undefined> {
  const waiting = [...(await countByKind())].filter(([, count]) => count > 0);
  if (waiting.length === 0) return undefined;
  const parts = waiting.map(([kind, count]) => `${count} ${words[kind][count === 1 ? 0 : 1]}`);
  const text = `Waiting for a moderator: ${parts.join(', ')}.`;
  return {
    subject: 'A moderator is needed',
    lines: [{ text, url: `${authUrl()}/account/moderation` }],
  };
}
