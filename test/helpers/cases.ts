import { caseKey, reviewKey } from '../../shared/core/keys.ts';
import { readItem } from './items.ts';
import { ask } from './visit.ts';
import type { Person } from './world.ts';

/** Returns what a moderator sees of a case: its version, the edits, and the version of a name. */
export async function seenOf(moderator: Person, review_id: string) {
  const version = (await readItem(caseKey(review_id)))?.version;
  const edits = (await readItem(reviewKey(review_id)))?.edits;
  const { html } = await ask('show-case', moderator, { path: { review_id } });
  const [, named] = /name="named" value="(\d+)"/.exec(html) ?? [];
  const seen: Record<string, string> = { version: `${version ?? 0}`, edits: `${edits}` };
  if (named !== undefined) seen.named = named;
  return seen;
}

/** Sends the form of a decision on a review, with what the moderator has seen: the state of now. */
export async function decideCase(
  moderator: Person,
  review_id: string,
  form: Record<string, string>,
  seen?: Record<string, string>,
) {
  const state = seen ?? (await seenOf(moderator, review_id));
  const why = { reason: 'other', note: '' };
  return ask('decide-review', moderator, {
    path: { review_id },
    form: { ...why, ...state, ...form },
  });
}
