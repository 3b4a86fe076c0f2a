import { html } from 'hono/html';
import * as v from 'valibot';
import { readFromCursor } from '../shared/list/cursor.ts';
import { listDecisions } from '../shared/moderation/decision-log.ts';
import {
  decisionList,
  moderationUrl,
  nextPage,
  requireModerator,
} from '../shared/pages/moderation.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

const limit = 20;
const log = { list: 'decisions', sort: 'date' };

export const request = v.object({
  caller: Session,
  query: v.object({ cursor: v.optional(v.string()) }),
});

/** Shows moderators the log: who has decided what, when, and why. */
export const handler = page(request, async ({ query }, { visitor }) => {
  requireModerator(visitor);
  const { page, cursor } = await readFromCursor(
    log,
    { offset: 0, limit, cursor: query.cursor },
    ({ after }) => listDecisions(limit, { after }),
  );
  return {
    title: 'Log of moderation',
    content: html`<section>
      <p><a href="${moderationUrl()}">Reported reviews</a></p>
      ${page.decisions.length > 0 ? await decisionList(page.decisions) : html`<p>Nothing has been decided yet.</p>`}
      ${nextPage(moderationUrl('/log'), {}, cursor)}
    </section>`,
  };
});
