// A person as pages show them: the name, and what others should know of an author.
import { html } from 'hono/html';
import { authUrl } from '../../auth-url.ts';
import type { User } from '../../user/user.ts';
import { canModerate, userTypeOf, userTypes } from '../../user/user-type.ts';
import type { Html } from './layout.ts';

/** The public name, isolated from the direction of the text around it, with a moderator's mark. */
export function nameWithRole(user: User): Html {
  return html`<bdi>${user.display_name}</bdi>${canModerate(user) && html` <span class="role">moderator</span>`}`;
}

/** The author of a review, with a link to the author's page, and the user type in a sentence. */
export function authorLine(author: User, when?: Html): Html {
  return html`<p>
      Reviewed by <a rel="author" href="${authUrl()}/user/${author.id}">${nameWithRole(author)}</a>${when && html` on ${when}`}
    </p>
    <p class="soft">${typeInWords(author)}</p>`;
}

/** Explains a user type by karma, or the block of an account. */
function typeInWords(author: User): string {
  if (author.blocked_at !== undefined) return 'A moderator has blocked this account.';
  const { karma } = author;
  const type = userTypeOf(author);
  const next = userTypes[userTypes.indexOf(type) + 1];
  const name = type.label === 'Noob' ? 'New author' : type.label;
  const step = next
    ? `, and ${next.label === 'Noob' ? 'new author' : next.label} from ${next.from} on`
    : '';
  return `${name}: karma ${karma}${step}. Karma is the upvotes minus the downvotes on all reviews of an author.`;
}
