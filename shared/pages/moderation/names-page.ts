// The page of a name for moderators: who gave it, and what people want to correct.
import { html } from 'hono/html';
import { authUrl } from '../../auth-url.ts';
import { nameOfEntityType } from '../../entity/entity-type.ts';
import { type Entity, type EntityRecord, readRecord } from '../../entity/record.ts';
import { findProposals, type OpenProposal } from '../../moderation/proposal.ts';
import type { User } from '../../user/user.ts';
import { findUsers } from '../../user/user-repository.ts';
import { namingUrl, recordUrl } from '../entity/naming-form.ts';
import { blank, type FormState, faultOf } from '../form/fields.ts';
import { csrfField, type Html, type Page, type Visitor } from '../frame/layout.ts';
import { withQuery } from '../frame/own-url.ts';
import { ageOf } from '../frame/words.ts';
import { linkTo, namesUrl, requireModerator, saying } from './moderation.ts';

/** The page of an entity's name. Throws ApiError 404 for anyone but moderators. */
export async function namesPage(
  entity: Entity,
  visitor: Visitor,
  filled: FormState = blank,
): Promise<Page> {
  requireModerator(visitor);
  const [record, proposals] = await Promise.all([readRecord(entity), findProposals(entity)]);
  const users = await findUsers([
    ...proposals.map(({ user_id }) => user_id),
    ...(record?.user_id ? [record.user_id] : []),
  ]);
  const name = record?.name ?? 'Something without a name';
  const { entity_type } = entity;
  const url = `${authUrl()}/entity/${entity.entity_id}`;
  return {
    title: `The name: ${name}`,
    heading: html`The name: <bdi>${name}</bdi>`,
    content: html`${faultOf(filled)}
      <section>
        <p class="soft">${nameOfEntityType(entity_type)}${record?.user_id && html`, named by ${linkTo(record.user_id, users)}`}</p>
        ${record && wordsBeforeAndAfter(record, record)}
        <div class="buttons">
          <a class="button quiet" href="${withQuery(url, { entity_type })}">See its page</a>
          <a class="button quiet" href="${namingUrl(entity)}">Change it myself</a>
          ${record && html`<a class="button quiet" href="${recordUrl(entity)}">Remove or join it</a>`}
        </div>
      </section>
      ${proposals.map((proposal) => html`<section>${entry({ proposal, record }, users, visitor.csrf)}</section>`)}
      ${proposals.length === 0 && html`<section><p>There is nothing to decide.</p></section>`}`,
  };
}

/** The cell of a name in a table: it leads to the page of the name. */
export function nameCell(
  entity: Entity,
  { name, about }: Pick<EntityRecord, 'name' | 'about'>,
  href = namesUrl(entity),
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

function entry({ proposal, record }: OpenProposal, users: ReadonlyMap<string, User>, csrf: string) {
  const { user_id, note, proposed_at } = proposal;
  const changesNothing = isReport(proposal, record);
  const hidden = { user_id, proposed_at, seen: `${record?.version ?? ''}` };
  return html`<h2>${changesNothing ? 'Reported' : 'Proposed'} ${ageOf(proposed_at)} ago by ${linkTo(user_id, users)}</h2>
    ${saying(note)}
    ${wordsBeforeAndAfter(record, proposal)}
    <form method="post" action="${namesUrl(proposal)}">
      ${csrfField(csrf)}
      ${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
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
