import { html } from 'hono/html';
import * as v from 'valibot';
import { readFromCursor } from '../../shared/base/list/cursor.ts';
import { oneOf } from '../../shared/base/values.ts';
import { findRecords, metadataOf } from '../../shared/core/entity/metadata.ts';
import type { EntityRecord } from '../../shared/core/entity/record.ts';
import { type DeskKind, deskKinds } from '../../shared/core/report/desk.ts';
import { isHeld, type Review } from '../../shared/core/review/review.ts';
import { reasons } from '../../shared/core/review/verdict.ts';
import type { User } from '../../shared/core/user/user.ts';
import { findUsers } from '../../shared/core/user/user-repository.ts';
import {
  approveAllForm,
  findHeldWith,
  isReport,
  linkTo,
  listWaiting,
  moderationTabs,
  moderationUrl,
  nameCell,
  noReason,
  type OpenReview,
  reasonsOf,
  reasonWords,
  requireModerator,
  saying,
  snapshotOf,
  type Waiting,
  wordsBeforeAndAfter,
} from '../../shared/features/moderation/public.ts';
import type { OpenProposal } from '../../shared/features/names/public.ts';
import { recordUrl } from '../../shared/features/things/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { csrfField, type Html, type Visitor } from '../../shared/pages/frame/layout.ts';
import { nextPage, perPage, rowsUnder, tabs } from '../../shared/pages/frame/lists.ts';
import { withQuery } from '../../shared/pages/frame/own-url.ts';
import { personLink, viewerOf } from '../../shared/pages/frame/person.ts';
import { ageOf, counted } from '../../shared/pages/frame/words.ts';
import { reviewCell } from '../../shared/pages/review/review-card.ts';
import { inFull, isCut } from '../../shared/pages/review/written-parts.ts';

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
  const rows = await rowsOf(page.waiting, visitor, kind);
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

async function rowsOf(
  waiting: readonly Waiting[],
  visitor: Visitor,
  kind: DeskKind | undefined,
): Promise<(Html | string)[][]> {
  const reviews = waiting.flatMap((each) => ('review' in each ? [each.review] : []));
  const [records, users, withReview] = await Promise.all([
    findRecords(reviews),
    findUsers(waiting.flatMap((each) => namerOf(each) ?? [])),
    findHeldWith(waiting.flatMap((each) => ('named' in each ? [each.named] : []))),
  ]);
  const byReview = new Map(reviews.map(({ id }, i) => [id, records[i]]));
  return waiting.flatMap((each) => {
    if ('review' in each) {
      return [reviewRow(each, byReview.get(each.review.id), { visitor, kind })];
    }
    if ('proposal' in each) return [proposalRow(each, users)];
    // A name that waits with a review is decided on with that.
    return withReview.has(each.named) ? [] : [nameRow(each.named, users)];
  });
}

/** The approval of what waits, beside it, for a moderator who has read it there. */
function approvalOf(
  open: OpenReview,
  record: EntityRecord | undefined,
  { visitor, kind }: { visitor: Visitor; kind: DeskKind | undefined },
): Html | '' {
  const { review, author } = open;
  const isReadable = review.long_text === undefined && review.waiting_since === undefined;
  if (!isReadable || author.id === visitor.user.id) return '';
  const all = html`Approve all by <bdi>${author.display_name}</bdi>`;
  return html`<form method="post" action="${moderationUrl(`/reviews/${review.id}`)}">
      ${csrfField(visitor.csrf, { ...noReason, ...snapshotOf(open, record), kind })}
      <button class="quiet" name="decision" value="approve" aria-label="Approve the review by ${author.display_name}">Approve</button>
    </form>
    ${approveAllForm(author, visitor.csrf, 'link', all)}`;
}

function namerOf(each: Waiting): string | undefined {
  if ('proposal' in each) return each.proposal.user_id;
  return 'named' in each ? each.named.user_id : undefined;
}

function reviewRow(
  open: OpenReview,
  record: EntityRecord | undefined,
  place: { visitor: Visitor; kind: DeskKind | undefined },
) {
  const { review, author, moderationCase } = open;
  const { reports, appeal, opened_at, is_held } = moderationCase;
  const metadata = metadataOf(record, viewerOf(place.visitor));
  const counts = html`${counted(reports, 'report')}<br>${reasonsOf(moderationCase)}`;
  const why = appeal === undefined ? counts : 'Appeal';
  const held = isHeld(review) ? 'Waits for approval' : 'An edit waits for approval';
  return [
    html`${reviewCell(review, metadata, moderationUrl(`/reviews/${review.id}`))}${is_held && isCut(review) && wholeText(review)}`,
    personLink(author, moderationUrl(`/users/${author.id}`)),
    is_held
      ? html`${held}${record?.state === 'waiting' && ', with a new name'}${reports > 0 && html`<br>${counts}`}${approvalOf(open, record, place)}`
      : why,
    ageOf(opened_at),
  ];
}

function wholeText({ text, language, long_text }: Review): Html | '' {
  if (long_text !== undefined) return '';
  return html`<details><summary>Read all of it</summary>${inFull({ text, language, rating: null })}</details>`;
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
