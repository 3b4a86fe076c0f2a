import type { Client } from './client.ts';
import { people } from './people.ts';
import type { Witness } from './run.ts';
import type { Things } from './things.ts';

/**
 * Watches what people write. At the end, deletes the accounts that the suite has made, and what it
 * has written with the tokens of others. Says what it cannot delete.
 */
export function makeCaretaker(client: Client, things: Things) {
  /** Paths of reviews and votes, by the person who can delete them. */
  const written = new Map<string, string>();
  const writes = new Map<string, number>();
  let decisions = 0;

  const witness: Witness = (request, { status, body }) => {
    const [person = '', method = '', template = ''] = request.split(' ');
    if (status !== 200 || method === 'GET') return;
    if (person === 'operator') decisions += 1;
    if (!(person in people)) return;
    writes.set(person, (writes.get(person) ?? 0) + 1);
    const path = things.fill(template);
    if (method === 'DELETE') written.delete(path);
    if (method === 'POST' && path === '/review/') {
      written.set(`/review/${(body as { id?: string }).id}`, person);
    }
    if (method === 'PUT') written.set(path, person);
  };

  async function isDeleted(person: string, path: string): Promise<boolean> {
    const { status } = await client
      .ask(`${person} DELETE ${path}`, {})
      .catch(() => ({ status: 0 }));
    // A review that is gone takes its votes with it.
    return status === 200 || status === 404;
  }

  return {
    witness,
    /** Returns a line for each thing that stays. `made` has the accounts of the suite. */
    async leave(made: ReadonlySet<string>): Promise<string[]> {
      const left: string[] = [];
      for (const [path, person] of [...written].toReversed()) {
        if (made.has(person) || (await isDeleted(person, path))) continue;
        left.push(`${path}, written with the token of ${person}`);
      }
      for (const person of made) {
        const { status } = await client
          .ask(`${person} DELETE /user/me`, {})
          .catch(() => ({ status: 0 }));
        // 401 if it was deleted before.
        if (status === 200 || status === 401) continue;
        left.push(`the account ${things.find(`${person}_name`)}, ${things.find(`${person}_id`)}`);
      }
      for (const [person, number] of writes) {
        if (!made.has(person)) left.push(`${number} writes in the daily limits of ${person}`);
      }
      if (decisions > 0) left.push(`${decisions} decisions in the log of moderators`);
      return left;
    },
  };
}
