// The page of a file: what was found, how far it is, and what became of it.
import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import { notFound } from '../../../base/errors.ts';
import { isoOf } from '../../../base/time.ts';
import { nameOfEntityType } from '../../../core/entity/entity-type.ts';
import { isNewcomer } from '../../../core/review/newcomer.ts';
import { findLastWritten } from '../../../core/review/own-reviews.ts';
import { namesLimitOf } from '../../../core/user/daily-limit.ts';
import { radios } from '../../../pages/form/choices.ts';
import { type FormState, faultOf } from '../../../pages/form/fields.ts';
import { csrfField, type Html, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { rowsUnder } from '../../../pages/frame/lists.ts';
import { withQuery } from '../../../pages/frame/own-url.ts';
import { counted, minuteOf } from '../../../pages/frame/words.ts';
import { publishedAs, termsFields } from '../../../pages/review/review-fields.ts';
import {
  type BroughtFile,
  findFile,
  keptDays,
  type Row,
  type RowState,
  readPageOfRows,
} from '../brought-file.ts';
import { mostQuiet } from '../decide.ts';
import { columnsOf } from '../sites.ts';
import { filesUrl } from './files-page.ts';

/** Returns a person's file. Throws ApiError 404 if there is none. */
export async function findOwnFile(userId: string, slot: number): Promise<BroughtFile> {
  const file = await findFile(userId, slot);
  if (!file) throw notFound('File');
  return file;
}

/** Words for the rows of each state, in the order of the page. */
const words: Readonly<Record<RowState, (type: string) => string>> = {
  found: (type) => `${type} that is here: ready to be brought`,
  new: (type) => `${type} that is not here yet: it will be added`,
  published: () => 'Published',
  held: () => 'Waiting for a moderator, who looks at the first reviews of everybody new',
  draft: () => 'Saved as a draft',
  undone: () => 'Deleted again',
  have: () => 'Left out: you have a review of it, or the file has it twice',
  unfound: (type) => `Left out: no ${type} of this name is here, or several are`,
  refused: () => 'Left out: it was refused',
  bad: () => 'Left out: the row cannot be read',
};
const order = Object.keys(words) as RowState[];

/** Why a row was left out, unless it says more. */
const reasons: Partial<Record<RowState, string>> = {
  have: 'You have a review of it',
  unfound: 'It is not here',
};

/** The page, from a part of the rows on, with the form as sent. */
export async function filePage(
  file: BroughtFile,
  visitor: Visitor,
  from: number,
  filled?: FormState,
): Promise<Page> {
  const { site, stage, task, created } = file;
  return {
    title: `Your reviews of ${columnsOf(site).name}`,
    isWide: true,
    content: html`${filled && faultOf(filled)}
      <section>
        <p class="soft">A file of ${minuteOf(created)} with ${counted(file.rows, 'row')}. <a href="${filesUrl()}">All your files</a></p>
        ${stage === undefined && html`<p class="warning">The file was not stored as a whole. Please send it again.</p>`}
        ${task ? progress(file, visitor) : stage && summary(file)}
        ${!task && stage === 'find' && (await choices(file, visitor, filled))}
        ${!task && stage === 'bring' && undoForm(file, visitor)}
      </section>
      ${!task && stage && (await leftOut(file, from))}`,
  };
}

function progress({ slot, task, next, parts, updated_at }: BroughtFile, { csrf }: Visitor): Html {
  const doing = {
    find: 'The rows are looked up',
    bring: 'Your reviews are brought',
    undo: 'Your reviews are deleted',
  };
  const percent = parts === 0 ? 0 : Math.floor((100 * next) / parts);
  const isQuiet = Date.now() - Date.parse(updated_at) > mostQuiet * 60_000;
  return html`<h2>${task && doing[task]}</h2>
    <p><progress max="100" value="${percent}" aria-label="Progress"></progress> ${percent} %</p>
    <p>You may leave this page. The work goes on without it.</p>
    <p><a class="button" href="${filesUrl(slot)}">Show how far it is</a></p>
    ${
      isQuiet &&
      html`<form method="post" action="${filesUrl(slot)}">${csrfField(csrf)}
      <p>Nothing has happened for a while.</p>
      <button class="quiet" name="decision" value="continue">Continue</button>
    </form>`
    }`;
}

/** The rows by their state. */
function summary({ counts, empty, entity_type }: BroughtFile): Html {
  const type = nameOfEntityType(entity_type);
  const rows = order.flatMap((state) => {
    const count = counts[state] ?? 0;
    return count > 0 ? [[words[state](type), `${count}`]] : [];
  });
  if (empty > 0) rows.push(['Left out: it has neither stars nor a text', `${empty}`]);
  return rowsUnder(['What', 'Rows'], rows, html`<p>The file has no rows.</p>`);
}

async function choices(
  { slot, counts, site }: BroughtFile,
  visitor: Visitor,
  filled: FormState = { values: {}, faults: {} },
): Promise<Html> {
  const count = (counts.found ?? 0) + (counts.new ?? 0);
  const limit = namesLimitOf(visitor.user);
  if (count === 0) return html`<p>There is nothing to bring.</p>`;
  const [last, isHeld] = await Promise.all([
    findLastWritten(visitor.user.id),
    isNewcomer(visitor.user.id),
  ]);
  return html`<h2>Bring ${counted(count, 'review')}</h2>
    ${publishedAs(visitor.user, isHeld)}
    <form method="post" action="${filesUrl(slot)}">
      ${csrfField(visitor.csrf)}
      ${radios({
        name: 'as',
        label: 'Publish them?',
        choices: [
          ['public', 'Publish all at once'],
          ['drafts', 'Keep them as drafts, which only you see'],
        ],
        value: 'public',
        isRequired: true,
        filled,
      })}
      ${radios({
        name: 'halves',
        label: 'Half stars',
        hint: 'Here are whole stars only. Quarters go to the nearest.',
        choices: [
          ['up', 'Up: 3½ becomes 4'],
          ['down', 'Down: 3½ becomes 3'],
        ],
        value: 'up',
        isRequired: true,
        filled,
      })}
      ${termsFields(filled, visitor, last)}
      <p class="soft">A text ends with a line of its site and date, such as “${columnsOf(site).name}, 2024-05-01”. ${counts.new ? 'What is not here is added by its name and year, and stays if you undo the rest.' : ''}</p>
      ${counts.new && limit && html`<p>${limit}. The rows above it are left out: send the file again another day, and it brings the rest.</p>`}
      <button name="decision" value="bring">Bring ${counted(count, 'review')}</button>
    </form>`;
}

function undoForm({ slot, counts, expires_at }: BroughtFile, { csrf }: Visitor): Html | '' {
  const count = (counts.published ?? 0) + (counts.held ?? 0) + (counts.draft ?? 0);
  if (count === 0) return '';
  const until = minuteOf(isoOf(expires_at));
  return html`<p><a class="button quiet" href="${authUrl()}/account/reviews">Your reviews</a></p>
    <h2>Undo</h2>
    <p>This deletes the reviews of this file as one. Those stay that you have edited since, and those with votes. It is possible for ${keptDays} days, until ${until}.</p>
    <form method="post" action="${filesUrl(slot)}">${csrfField(csrf)}
      <button class="danger" name="decision" value="undo">Delete ${counted(count, 'review')}</button>
    </form>`;
}

const isLeftOut = ({ state, why }: Row) =>
  why !== undefined || ['unfound', 'have', 'bad', 'refused'].includes(state);

/** The rows that were left out or are not whole, each with its line and reason. */
async function leftOut(file: BroughtFile, from: number): Promise<Html | ''> {
  const { rows, next } = await readPageOfRows(file, from);
  const left = rows.filter(isLeftOut);
  if (left.length === 0 && next === undefined && from === 0) return '';
  const cells = left.map(({ line, title, by, year, state, why }) => [
    html`<bdi>${[title, by, year].filter(Boolean).join(' · ') || 'Without a title'}</bdi>`,
    `${line}`,
    why ?? reasons[state] ?? '',
  ]);
  const more = next !== undefined && withQuery(filesUrl(file.slot), { from: next });
  return html`<section>
    <h2>Left out</h2>
    ${rowsUnder(['Row', 'Line', 'Why'], cells, html`<p>None among these rows.</p>`)}
    ${more && html`<p><a class="button quiet" href="${more}">Next rows</a></p>`}
  </section>`;
}
