import type { APIGatewayProxyEvent } from 'aws-lambda';
import { cookieName, cookiesOf, setCookie } from './cookies.ts';

/** What a page says once after a change. */
const notices = {
  'profile-saved': 'Your profile is saved.',
  'application-registered': 'The application is registered, and this is what it needs.',
  'application-saved': 'The registration is saved.',
  'application-deleted': 'The application is deleted. It has no access to any account any more.',
  'application-revoked': 'All access is ended. Whoever wants to use the application connects anew.',
  'secret-made': 'There is a new secret. The old one works for another day, unless you end it.',
  'secret-ended': 'The old secret is refused from now on.',
  'secrets-full': 'There are two secrets already: end the old one before you make another.',
  'not-ticked': 'Nothing is changed: tick the box as well, if you are sure.',
  'token-revoked': 'The token is refused from now on.',
  'connection-revoked': 'The application has no access to your account any more.',
  'review-hide': 'The review is hidden.',
  'review-dismiss': 'The reports are dismissed, and the review stays.',
  'review-restore': 'The review is public again.',
  'review-uphold': 'The review stays hidden.',
  'user-block': 'The account is blocked: it can read and be deleted, but not write.',
  'user-unblock': 'The account may write again.',
  'user-allow': 'The author may review it again.',
  'appeal-sent': 'Another moderator will decide on your appeal.',
} as const;

/** The code of a notice. */
export type Notice = keyof typeof notices;

/**
 * The Set-Cookie header that leaves a notice for the next page. It is a cookie and not a part of the address, so that no link of a stranger's
 * brings it about, and a page that is loaded again does not repeat it.
 */
export function leaveNotice(notice: Notice): string {
  return setCookie('notice', notice, 60);
}

/** The notice that was left, in words. Undefined where there is none. */
export function readNotice(event: APIGatewayProxyEvent): string | undefined {
  const left = cookiesOf(event)[cookieName('notice')] ?? '';
  return Object.hasOwn(notices, left) ? notices[left as Notice] : undefined;
}

/** The Set-Cookie header that takes the notice away. */
export function forgetNotice(): string {
  return setCookie('notice', '', 0);
}
