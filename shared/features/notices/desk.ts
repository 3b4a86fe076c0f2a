// The letter to moderators about what waits. It says how much, and nothing of what people wrote.
import { authUrl } from '../../base/auth-url.ts';
import { getItem } from '../../base/table/query.ts';
import { tryUpdate } from '../../base/table/transact.ts';
import { countByKind, type DeskKind, newestWait } from '../../core/report/desk.ts';
import { listModerators } from '../../core/user/user-repository.ts';
import { noticesPaceKey } from './kinds.ts';
import type { Letter } from './letter.ts';
import { longest } from './queue.ts';
import type { Mailing } from './send.ts';

/** Words for one thing of a kind, and for several. 100 stands for 100 or more. */
const words: Readonly<Record<DeskKind, readonly [one: string, many: string]>> = {
  report: ['reported review', 'reported reviews'],
  held: ['review or text of a new author', 'reviews or texts of new authors'],
  appeal: ['appeal', 'appeals'],
  proposal: ['correction of a name', 'corrections of names'],
  name: ['new name', 'new names'],
};

/** Returns a mail to each moderator who was not told since something came to the desk. */
export async function dueDesk(): Promise<Mailing[]> {
  const newest = await newestWait();
  if (newest === undefined) return [];
  const Key = noticesPaceKey;
  const told = Number((await getItem(Key, { consistent: false }))?.told_until ?? 0);
  if (newest <= told) return [];
  let letter: ReturnType<typeof deskLetter> | undefined;
  const moderators = await listModerators();
  let waiting = moderators.length;
  const finish = async () => {
    waiting--;
    // Until something else comes, the next runs read no moderators.
    if (waiting === 0) await tryUpdate({ Key, set: { told_until: newest } });
  };
  return moderators.map((user_id) => ({
    user_id,
    kind: 'desk',
    name: `${newest}`,
    news: newest,
    age: Date.now() - newest,
    compose() {
      letter ??= deskLetter();
      return letter;
    },
    finish,
    // The pace of the address holds the next attempt up, until the news are lost.
    async postpone(due_at) {
      if (newest + longest < due_at) await finish();
    },
  }));
}

/** Returns the letter, or undefined if nothing waits. Reads up to 12.5 units. */
async function deskLetter(): Promise<Letter | undefined> {
  const waiting = [...(await countByKind())].filter(([, count]) => count > 0);
  if (waiting.length === 0) return undefined;
  const parts = waiting.map(([kind, count]) => `${count} ${words[kind][count === 1 ? 0 : 1]}`);
  const text = `Waiting for a moderator: ${parts.join(', ')}.`;
  return {
    subject: 'A moderator is needed',
    lines: [{ text, url: `${authUrl()}/account/moderation` }],
  };
}
