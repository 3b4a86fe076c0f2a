import { html } from 'hono/html';
import { authUrl } from '../../shared/base/auth-url.ts';
import { nameOfEntityType } from '../../shared/core/entity/entity-type.ts';
import type { Entity } from '../../shared/core/entity/record.ts';
import type { Decision } from '../../shared/core/report/decision.ts';
import { ownTabs } from '../../shared/features/account/public.ts';
import { decisionOf, saying } from '../../shared/features/moderation/public.ts';
import {
  listOutcomes,
  listOwnProposals,
  type Proposal,
} from '../../shared/features/names/public.ts';
import { entityUrl } from '../../shared/pages/entity/addresses.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { CursorQuery, nextPage, readDated, rowsUnder } from '../../shared/pages/frame/lists.ts';
import { minuteOf } from '../../shared/pages/frame/words.ts';

export const request = signedIn({ query: CursorQuery });

/** Shows a person the corrections that wait for a moderator, and what became of the others. */
export const handler = page(request, async ({ caller: { user_id }, query }) => {
  const [{ proposals, cursor }, outcomes] = await Promise.all([
    readDated({ list: 'own proposals', user_id }, query.cursor, (limit, after) =>
      listOwnProposals(user_id, limit, after),
    ),
    listOutcomes(user_id),
  ]);
  const url = `${authUrl()}/account/names`;
  return {
    title: 'Your corrections',
    isWide: true,
    content: html`${ownTabs('names')}
      <section>
        <h2>Waiting for a moderator</h2>
        ${rowsUnder(['Name', 'Your words for moderators', 'Sent'], proposals.map(waiting), html`<p>None.</p>`)}
        ${nextPage(url, cursor)}
      </section>
      <section>
        <h2>Decided</h2>
        ${rowsUnder(['Name', 'Decision', 'When'], outcomes.map(decided), html`<p>None.</p>`)}
      </section>`,
  };
});

function waiting(proposal: Proposal) {
  return [linkTo(proposal, proposal.name), saying(proposal.note), minuteOf(proposal.proposed_at)];
}

function decided({ entity_id = '', entity_type, after, ...decision }: Decision) {
  const thing = entity_type && after && linkTo({ entity_id, entity_type }, after.name);
  const isAccepted = decision.decision === 'correct';
  return [
    thing ?? '',
    html`${isAccepted ? 'Accepted' : decisionOf(decision)}${saying(decision.note)}`,
    minuteOf(decision.decided_at),
  ];
}

function linkTo(entity: Entity, name: string) {
  return html`<a href="${entityUrl(entity)}"><bdi>${name}</bdi></a> <span class="soft">${nameOfEntityType(entity.entity_type)}</span>`;
}
