// Names on the desk of moderators, and what people want to correct of them.
import { html } from 'hono/html';
import { nameOfEntityType } from '../../../core/entity/entity-type.ts';
import type { Entity, EntityRecord } from '../../../core/entity/record.ts';
import type { User } from '../../../core/user/user.ts';
import { csrfField, type Html } from '../../../pages/frame/layout.ts';
import { ageOf } from '../../../pages/frame/words.ts';
import type { OpenProposal } from '../../names/public.ts';
import { recordUrl } from '../../things/public.ts';
import { linkTo, namesUrl, saying } from './moderation.ts';

/** The cell of a name in a table: it leads to the page of the thing. */
export function nameCell(
  entity: Entity,
  { name, about }: Pick<EntityRecord, 'name' | 'about'>,
  href = recordUrl(entity),
) {
  return html`<div class="cell">
    <strong><a href="${href}"><bdi>${name}</bdi></a></strong>
    <p class="soft">${nameOfEntityType(entity.entity_type)}${about && html` · <bdi>${about}</bdi>`}</p>
  </div>`;
}

type Words = Pick<EntityRecord, 'name' | 'about' | 'url'>;

/** The words of a record before and after a correction. Equal ones stand once. */
export function wordsBeforeAndAfter(before: Words | undefined, after: Words): Html {
  const fields = ['name', 'about', 'url'] as const;
  return html`<dl>${fields.map((name) => {
    const was = before?.[name] ?? '';
    const is = after[name] ?? '';
    if (was === '' && is === '') return '';
    return html`<dt>${labels[name]}</dt><dd>${was !== is && html`<del><bdi>${was || 'none'}</bdi></del> → `}<bdi>${is || 'none'}</bdi></dd>`;
  })}</dl>`;
}

const labels = { name: 'Name', about: 'What tells it apart', url: 'Page' };

/** A correction that somebody proposes, with the form to decide on it. */
export function proposalEntry(
  { proposal, record }: OpenProposal,
  users: ReadonlyMap<string, User>,
  csrf: string,
) {
  const { user_id, note, proposed_at } = proposal;
  const changesNothing = isReport(proposal, record);
  return html`<h2>${changesNothing ? 'Reported' : 'Proposed'} ${ageOf(proposed_at)} ago by ${linkTo(user_id, users)}</h2>
    ${saying(note)}
    ${wordsBeforeAndAfter(record, proposal)}
    <form method="post" action="${namesUrl(proposal)}">
      ${csrfField(csrf, { user_id, proposed_at, seen: record?.version ?? '' })}
      <div class="buttons">
        ${!changesNothing && html`<button name="decision" value="accept">Accept</button>`}
        <button class="quiet" name="decision" value="decline">${changesNothing ? 'Close the report' : 'Decline'}</button>
      </div>
    </form>`;
}

/** Returns true for a proposal that changes nothing: its note is all that the person says. */
export function isReport(proposal: Words, record: Words | undefined): boolean {
  const fields = ['name', 'about', 'url'] as const;
  return record !== undefined && fields.every((name) => record[name] === proposal[name]);
}
