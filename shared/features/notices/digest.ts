// The letter of every week: the latest reviews, for those who ask for it.
import { authUrl } from '../../base/auth-url.ts';
import { idIn } from '../../base/table/item.ts';
import { collect, queryIndex } from '../../base/table/query.ts';
import { tryUpdate } from '../../base/table/transact.ts';
import { nameOfEntity } from '../../core/entity/entity-type.ts';
import { findMetadata } from '../../core/entity/metadata.ts';
import { contactKey } from '../../core/keys.ts';
import { twoOfEach } from '../../core/review/front-reviews.ts';
import { findListed } from '../../core/review/read-reviews.ts';
import type { Review } from '../../core/review/review.ts';
import { digestAfter } from '../../core/user/mails.ts';
import { type Letter, quoted } from './letter.ts';
import type { Mailing } from './send.ts';

/** Reviews in a digest: what fits a screen. */
const mostReviews = 10;

/** Entries that are looked through. They tell the author, and 200 of them are 16 KB. */
const mostEntries = 200;

const week = 7 * 86_400_000;

/** Digests of one run. A mail takes about 100 ms, so more would not fit a run. */
const mostDigests = 200;

/** Returns a mail with the latest reviews to each person whose week is over. */
export async function dueDigests(): Promise<Mailing[]> {
  const range = { high: `${new Date().toISOString()}#~` };
  const entries = queryIndex('all-by-date', 'DIGEST', { range, pageSize: mostDigests });
  const due = await collect(entries, mostDigests);
  let letter: ReturnType<typeof digestLetter> | undefined;
  return due.map((entry) => {
    const user_id = idIn(entry);
    const { date = '' } = entry;
    const list = async (set: object) => {
      await tryUpdate({ Key: contactKey(user_id), set: { ...set }, was: { date } });
    };
    return {
      user_id,
      kind: 'digest',
      name: date,
      age: Date.now() - Date.parse(date.slice(0, date.indexOf('#'))),
      compose() {
        letter ??= digestLetter();
        return letter;
      },
      finish: () => list(digestAfter(user_id)),
      postpone: (due_at) => list(digestAfter(user_id, due_at)),
    };
  });
}

/** Returns the letter, or undefined if nothing was published in a week. Reads some 25 units. */
async function digestLetter(): Promise<Letter | undefined> {
  const range = { low: new Date(Date.now() - week).toISOString() };
  const options = { range, descending: true, pageSize: mostEntries };
  const entries = await collect(queryIndex('all-by-date', 'REVIEW', options), mostEntries);
  // So that nobody fills the letter that everybody gets.
  const listed = await findListed(twoOfEach(entries).slice(0, mostReviews));
  const things = await findMetadata(listed.map(({ review }) => review));
  const lines = listed.map(({ review, author }, i) => ({
    text: `${nameIn(review, things[i])}, by ${quoted(author.display_name)}`,
    url: `${authUrl()}/review/${review.id}`,
  }));
  return lines.length > 0 ? { subject: 'The latest reviews', lines } : undefined;
}

/** The name of a thing in quotation marks, because a member may have written it, or its type. */
function nameIn(review: Review, metadata: Parameters<typeof nameOfEntity>[1]): string {
  const name = nameOfEntity(review, metadata);
  return metadata ? quoted(name) : name;
}
