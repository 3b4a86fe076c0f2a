// The page to bring a file of reviews from another site, with the files of the last days.
import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import { nameOfEntityType } from '../../../core/entity/entity-type.ts';
import { reviewableTypes } from '../../../core/entity/reviewable-types.ts';
import { blockedAccount } from '../../../core/user/writer.ts';
import { type Choice, select } from '../../../pages/form/choices.ts';
import { blank, type FormState, faultOf, fieldParts } from '../../../pages/form/fields.ts';
import { csrfField, type Html, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { rowsUnder } from '../../../pages/frame/lists.ts';
import { minuteOf } from '../../../pages/frame/words.ts';
import { type BroughtFile, keptDays, listFiles, slots } from '../brought-file.ts';
import { columnsOf, siteNames } from '../sites.ts';
import { freeSlot } from '../take-file.ts';

/** Returns the address of the page, or of one file. */
export function filesUrl(slot?: number): string {
  return `${authUrl()}/account/files${slot === undefined ? '' : `/${slot}`}`;
}

/** Words for the stage of a file. */
const stages = { find: 'Not brought yet', bring: 'Brought', undo: 'Undone' } as const;

/** The page, with the form as sent. */
export async function filesPage(visitor: Visitor, filled: FormState = blank): Promise<Page> {
  const files = await listFiles(visitor.user.id);
  return {
    title: 'Bring your reviews',
    content: html`${faultOf(filled)}
      <section>
        <p>Take your reviews and stars with you from another site. Ask it for an export of your data, and choose the file here:</p>
        <ul>${siteNames.map((name) => html`<li>${columnsOf(name).name}: ${columnsOf(name).files}</li>`)}</ul>
        <p>You see what is in it before anything is published. It can be undone as one for ${keptDays} days.</p>
        ${visitor.user.blocked_at === undefined ? form(visitor, files, filled) : html`<p>${blockedAccount}.</p>`}
      </section>
      ${files.length > 0 && html`<section><h2>Your files</h2>${rowsUnder(['File', 'State', 'Taken'], files.map(rowOf), html``)}</section>`}`,
  };
}

function rowOf({ slot, site, stage, task, created }: BroughtFile): (Html | string)[] {
  const state = stage ? stages[stage] : 'Not stored as a whole';
  return [
    html`<a href="${filesUrl(slot)}">${columnsOf(site).name}</a>`,
    task ? 'At work' : state,
    minuteOf(created),
  ];
}

function form({ csrf }: Visitor, files: readonly BroughtFile[], filled: FormState): Html {
  if (freeSlot(files) === undefined) {
    return html`<p>You may bring ${slots.length} files in 24 hours. Come back later.</p>`;
  }
  const { id, tie, hint, fault } = fieldParts({
    name: 'file',
    label: '',
    hint: 'A table with the ending .csv, of at most 5,000 rows and 4 MB. If the export is a .zip, open it first.',
    filled,
  });
  const about = tie['aria-describedby'] ?? '';
  return html`<form method="post" action="${filesUrl()}" enctype="multipart/form-data">
    ${csrfField(csrf)}
    <div class="field">
      <label for="${id}">File</label>
      ${hint}
      <input type="file" id="${id}" name="file" accept=".csv,text/csv" required aria-describedby="${about}"${fault && html` aria-invalid="true" autofocus`}>
      ${fault}
    </div>
    ${select({
      name: 'entity_type',
      label: 'What are these reviews about?',
      none: 'As the file says',
      options: reviewableTypes.map((type): Choice => [type, nameOfEntityType(type)]),
      filled,
    })}
    ${files.length === slots.length && html`<p class="soft">The oldest of your files gives way, and can then no longer be undone. Its reviews stay.</p>`}
    <button>Look into the file</button>
  </form>`;
}
