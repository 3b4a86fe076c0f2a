import { html } from 'hono/html';
import * as v from 'valibot';
import { findMetadata } from '../../shared/entity/metadata.ts';
import type { Metadata } from '../../shared/entity/presented.ts';
import type { EntityRecord } from '../../shared/entity/record.ts';
import { readFromCursor } from '../../shared/list/cursor.ts';
import { type DeskKind, deskKinds } from '../../shared/moderation/desk.ts';
import { listWaiting, type OpenReview, type Waiting } from '../../shared/moderation/desk-list.ts';
import type { OpenProposal } from '../../shared/moderation/proposal.ts';
import { recordUrl } from '../../shared/pages/entity/naming-form.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import type { Html, Visitor } from '../../shared/pages/frame/layout.ts';
import { nextPage, perPage, rowsUnder, tabs } from '../../shared/pages/frame/lists.ts';
import { withQuery } from '../../shared/pages/frame/own-url.ts';
import { personLink, viewerOf } from '../../shared/pages/frame/person.ts';
import { ageOf, counted } from '../../shared/pages/frame/words.ts';
import {
  linkTo,
  moderationTabs,
  moderationUrl,
  reasonsOf,
  reasonWords,
  requireModerator,
  saying,
} from '../../shared/pages/moderation/moderation.ts';
import {
  isReport,
  nameCell,
  wordsBeforeAndAfter,
} from '../../shared/pages/moderation/names-page.ts';
import { reviewCell } from '../../shared/pages/review/review-card.ts';
import { isHeld } from '../../shared/review/review.ts';
import { reasons } from '../../shared/review/verdict.ts';
import type { User } from '../../shared/user/user.ts';
import { findUsers } from '../../shared/user/user-repository.ts';
import { oneOf } from '../../shared/values.ts';

export const request = signedIn({
  query: v.object({
    kind: v.optional(oneOf(deskKinds)),
    sort: v.optional(v.picklist(['date', 'popularity'], 'must be date or popularity'), 'date'),
    // Links of older code ask for what is held by this word.
    reason: v.optional(oneOf([...reasons, 'held'])),
    cursor: v.optional(v.string()),
  }),
});

const kindWords: Readonly<Record<DeskKind, string>> = {
  report: 'Reports',
  held: 'New authors',
  appeal: 'Appeals',
  proposal: 'Corrections',
  name: 'New names',
};

/** Shows moderators everything that waits for a decision. */
export const handler = page(request, async ({ query }, { visitor }) => {
  requireModerator(visitor);
  const { sort } = query;
  const reason = query.reason === 'held' ? undefined : query.reason;
  const kind = query.kind ?? (query.reason === 'held' ? 'held' : reason && 'report');
  // A filter by reason reads more, because it leaves most of them out.
  const limit = reason ? 100 : perPage;
  const list = { list: 'desk', kind, sort, reason };
  const { page, endAfter } = await readFromCursor(
    list,
    { offset: 0, limit, cursor: query.cursor },
    ({ after }) => listWaiting({ kind, reason, order: sort }, limit, after),
  );
  const { cursor } = endAfter();
  const rows = await rowsOf(page.waiting, visitor);
  const linkWith = (change: object) =>
    withQuery(moderationUrl(), { kind, sort, reason, ...change });
  const linkToKind = (each?: DeskKind) => withQuery(moderationUrl(), { kind: each });
  const none = cursor
    ? html`<p>None of these reviews matches. There are more.</p>`
    : html`<p>There is nothing to decide.</p>`;
  return {
    title: 'Waiting for a decision',
    isWide: true,
    content: html`${moderationTabs('')}
      <section>
        <div class="choices">
          ${tabs('Kind', linkToKind(kind), [
            [linkToKind(), 'Everything'],
            ...deskKinds.map((each) => [linkToKind(each), kindWords[each]] as const),
          ])}
          ${
            kind === 'report' &&
            html`${tabs('Reason', linkWith({}), [
              [linkWith({ reason: undefined }), 'All reasons'],
              ...reasons.map((each) => [linkWith({ reason: each }), reasonWords[each]] as const),
            ])}
          ${tabs('Order', linkWith({}), [
            [linkWith({ sort: 'date' }), 'Oldest first'],
            [linkWith({ sort: 'popularity' }), 'Most reported first'],
          ])}`
          }
        </div>
        ${rowsUnder(['What', 'Who', 'Why', 'Waiting'], rows, none)}
        ${nextPage(moderationUrl(), cursor, { kind, sort, reason })}
      </section>`,
  };
});

async function rowsOf(waiting: readonly Waiting[], visitor: Visitor): Promise<(Html | string)[][]> {
  const reviews = waiting.flatMap((each) => ('review' in each ? [each.review] : []));
  const [metadata, users] = await Promise.all([
    findMetadata(reviews, viewerOf(visitor)),
    findUsers(waiting.flatMap((each) => namerOf(each) ?? [])),
  ]);
  const byReview = new Map(reviews.map(({ id }, i) => [id, metadata[i]]));
  return waiting.map((each) => {
    if ('review' in each) return reviewRow(each, byReview.get(each.review.id));
    return 'proposal' in each ? proposalRow(each, users) : nameRow(each.named, users);
  });
}

function namerOf(each: Waiting): string | undefined {
  if ('proposal' in each) return each.proposal.user_id;
  return 'named' in each ? each.named.user_id : undefined;
}

function reviewRow({ review, author, moderationCase }: OpenReview, metadata?: Metadata | null) {
  const { reports, appeal, opened_at, is_held } = moderationCase;
  const counts = html`${counted(reports, 'report')}<br>${reasonsOf(moderationCase)}`;
  const why = appeal === undefined ? counts : 'Appeal';
  const held = isHeld(review) ? 'Waits for approval' : 'An edit waits for approval';
  return [
    reviewCell(review, metadata, moderationUrl(`/reviews/${review.id}`)),
    personLink(author, moderationUrl(`/users/${author.id}`)),
    is_held ? html`${held}${reports > 0 && html`<br>${counts}`}` : why,
    ageOf(opened_at),
  ];
}

function proposalRow({ proposal, record }: OpenProposal, users: ReadonlyMap<string, User>) {
  const { user_id, note, proposed_at } = proposal;
  return [
    nameCell(proposal, record ?? proposal),
    linkTo(user_id, users),
    html`${isReport(proposal, record) ? 'A report' : 'A correction'}${saying(note)}${wordsBeforeAndAfter(record, proposal)}`,
    ageOf(proposed_at),
  ];
}

function nameRow(record: EntityRecord, users: ReadonlyMap<string, User>) {
  return [
    nameCell(record, record, recordUrl(record)),
    linkTo(record.user_id ?? null, users),
    'A new name',
    ageOf(`${record.written_at}`),
  ];
}
