import type { APIGatewayProxyEvent } from 'aws-lambda';
import { html } from 'hono/html';
import { readCookie, setCookie } from '../session/session.ts';
import type { Page } from './layout.ts';

/** Messages shown once after a change. */
const notices = {
  'settings-saved': 'Your settings are saved.',
  welcome: 'Welcome! Your name is saved. Find something that you know, and review it.',
  'address-moved':
    'You sign in with the new address now. All other devices are signed out, and the address before is told.',
  'draft-saved': 'The draft is saved. Only you can see it.',
  'review-published': 'Your review is public.',
  'review-held':
    'Your review is saved. It waits for a moderator, who looks at the first reviews of everybody new.',
  'review-saved': 'Your review is saved.',
  'edit-held':
    'Your new text is saved. It waits for a moderator. Until then everybody reads the text before it.',
  'review-deleted': 'The review is deleted.',
  'application-registered': 'The application is registered. Its credentials are below.',
  'application-saved': 'The registration is saved.',
  'application-deleted': 'The application is deleted. It no longer has access to any account.',
  'application-public':
    'The application is public now, without a secret. People have to connect it again.',
  'application-confidential': 'The application has a secret now. Its refresh tokens need it.',
  'application-revoked': 'All access is revoked. People have to connect the application again.',
  'secret-made':
    'The new secret is created. The old one works for one more day, unless you revoke it.',
  'secret-ended': 'The old secret is revoked.',
  'secrets-full': 'There are already two secrets. Revoke the old one before you create another.',
  'webhook-new': 'The webhook is registered. It begins when its receiver has answered a test.',
  'webhook-save': 'The webhook is saved.',
  'webhook-test': 'A test is sent within a minute. Reload this page to see its result.',
  'webhook-pause':
    'The webhook is paused. Continue it at any time, and nothing is lost for 30 days.',
  'webhook-continue': 'The webhook continues where it stood.',
  'webhook-replay': 'The webhook sends again what has changed since that time.',
  'webhook-skip': 'The message is skipped.',
  'webhook-resend': 'The message is sent again within a minute.',
  'webhook-confirm': 'The address is confirmed, and the webhook is on.',
  'webhook-secret': 'The new secret is created. For one more day, the old one signs beside it.',
  'webhook-delete': 'The webhook is deleted.',
  'not-ticked': 'Nothing was changed. Tick the box to confirm.',
  'token-revoked': 'The token is revoked.',
  'connection-revoked': 'The application no longer has access to your account.',
  'review-hide': 'The review is hidden.',
  'review-dismiss': 'The reports are dismissed, and the review stays.',
  'review-restore': 'The review is public again.',
  'review-uphold': 'The review stays hidden.',
  'review-approve': 'The review is public now.',
  'review-refuse': 'The edit is refused, and the review stays as it was.',
  'user-block': 'The account is blocked: it can read and be deleted, but not write.',
  'user-hide_all': 'The account is blocked. Everything that it did is being undone.',
  'user-restore_all': 'The account may write again. What was undone is being brought back.',
  'user-unblock': 'The account may write again.',
  'user-approve_all': 'What waited of this author is public now.',
  'user-allow': 'The author may review it again.',
  'vote-cast': 'Your vote is counted.',
  'vote-taken-back': 'Your vote is taken back.',
  'name-saved': 'The name is saved.',
  'name-proposed': 'Thank you. A moderator looks at it.',
  'name-same': 'Nothing was changed.',
  'entity-added': 'It is here now. Be the first to review it.',
  'name-accept': 'The name is corrected.',
  'name-decline': 'The proposal is declined.',
  'correction-undone': 'The change is undone.',
  'thing-confirm': 'The name is confirmed.',
  'thing-remove': 'It is removed.',
  'thing-lead': 'It leads to the other now.',
  'thing-return': 'It is a thing of its own again.',
  'file-taken': 'The file is stored. Its rows are looked up now.',
  'file-bring': 'Your reviews are being brought. You may leave this page.',
  'file-undo': 'The reviews of this file are being deleted. You may leave this page.',
  'file-continue': 'The work on the file continues.',
  'invitation-revoked': 'The invitation is revoked. Nobody else can join with its link.',
  'appeal-sent': 'Another moderator will decide on your appeal.',
} as const;

/** The code of a notice. */
export type Notice = keyof typeof notices;

/** Notices with a link to where others find the review. */
const saved: readonly Notice[] = ['review-published', 'review-saved'];

/**
 * Returns the Set-Cookie header that leaves a notice for the next page, or deletes it. A query
 * parameter would let anybody's link show a notice, and would repeat it on reload.
 */
export function leaveNotice(notice?: Notice): string {
  return notice ? setCookie('notice', notice, 60) : setCookie('notice', '', 0);
}

/** Shows the notice of the last change on a page, once. The last page of a session has none. */
export function withNotice(page: Page, event: APIGatewayProxyEvent): Page {
  const code = readNotice(event);
  if (!code) return page;
  const notice = notices[code];
  const shownAt = saved.includes(code) && page.shownAt;
  const { content, isLast, cookies = [] } = page;
  return {
    ...page,
    content: html`${!isLast && html`<p class="notice" role="status">${notice}${shownAt && html` ${shownAt}`}</p>`}
      ${content}`,
    cookies: [...cookies, leaveNotice()],
  };
}

function readNotice(event: APIGatewayProxyEvent): Notice | undefined {
  const code = readCookie(event, 'notice') ?? '';
  return Object.hasOwn(notices, code) ? (code as Notice) : undefined;
}
