// The page of the names that people want to correct, with forms to decide.
import { html } from 'hono/html';
import { authUrl } from '../../auth-url.ts';
import { nameOfEntityType } from '../../entity/entity-type.ts';
import type { EntityRecord } from '../../entity/record.ts';
import { listProposals, type OpenProposal } from '../../moderation/proposal.ts';
import type { User } from '../../user/user.ts';
import { findUsers } from '../../user/user-repository.ts';
import { blank, type FormState, faultOf } from '../form/fields.ts';
import { csrfField, type Html, type Page, type Visitor } from '../frame/layout.ts';
import { nextPage, readDated } from '../frame/lists.ts';
import { withQuery } from '../frame/own-url.ts';
import { ageOf } from '../frame/words.ts';
import { linkTo, moderationTabs, moderationUrl, requireModerator, saying } from './moderation.ts';

/** A page of proposals, the oldest first. Throws ApiError 404 for anyone but moderators. */
export async function proposalsPage(
  visitor: Visitor,
  query: { cursor?: string | undefined },
  filled: FormState = blank,
): Promise<Page> {
  requireModerator(visitor);
  const { proposals, cursor } = await readDated({ list: 'proposals' }, query.cursor, listProposals);
  const users = await findUsers(proposals.map(({ proposal }) => proposal.user_id));
  return {
    title: 'Names to correct',
    isWide: true,
    content: html`${moderationTabs('/names')}
      ${faultOf(filled)}
      <section>
        ${
          proposals.length === 0
            ? html`<p>There is nothing to decide.</p>`
            : html`<ul class="plain">${proposals.map((each) => html`<li>${entry(each, users, visitor.csrf)}</li>`)}</ul>`
        }
        ${nextPage(moderationUrl('/names'), cursor)}
      </section>`,
  };
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
  const { entity_id, entity_type, user_id, note, proposed_at } = proposal;
  const href = withQuery(`${authUrl()}/entity/${entity_id}`, { entity_type });
  const isReport = record !== undefined && isSame(record, proposal);
  const hidden = {
    entity_id,
    entity_type,
    user_id,
    proposed_at,
    seen: `${record?.version ?? ''}`,
  };
  return html`<h2><a href="${href}"><bdi>${record?.name ?? proposal.name}</bdi></a></h2>
    <p class="soft">${nameOfEntityType(entity_type)}, ${isReport ? 'reported' : 'proposed'} ${ageOf(proposed_at)} ago by ${linkTo(user_id, users)}</p>
    ${saying(note)}
    ${wordsBeforeAndAfter(record, proposal)}
    <form method="post" action="${moderationUrl('/names')}">
      ${csrfField(csrf)}
      ${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
      <div class="buttons">
        ${!isReport && html`<button name="decision" value="accept">Accept</button>`}
        <button class="quiet" name="decision" value="decline">${isReport ? 'Close the report' : 'Decline'}</button>
        <a class="button quiet" href="${withQuery(`${authUrl()}/entity/${entity_id}/name`, { entity_type })}">Change it myself</a>
      </div>
    </form>`;
}

function isSame(one: Words, other: Words): boolean {
  return one.name === other.name && one.about === other.about && one.url === other.url;
}
