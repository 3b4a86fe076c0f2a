// A person as pages show them: the name, and what others should know of an author.
import { html } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import type { Viewer } from '../../core/entity/state.ts';
import type { User } from '../../core/user/user.ts';
import { canModerate, userTypeOf } from '../../core/user/user-type.ts';
import type { Html, Visitor } from './layout.ts';
import { initialsOf, type TileSize, tile } from './tile.ts';

/** The public name, isolated from the direction of the text around it, with a moderator's mark. */
export function nameWithRole(user: User): Html {
  return html`<bdi>${user.display_name}</bdi>${canModerate(user) && html` <span class="role">moderator</span>`}`;
}

/** The person's tile, round, with one initial. */
function face({ id, display_name }: User, size: TileSize = 24): Html {
  return tile(id, initialsOf(display_name, 1), { size, isRound: true });
}

/** The tile and the name, with a link: to the person's public page, if no other is given. */
export function personLink(user: User, href = `${authUrl()}/user/${user.id}`): Html {
  return html`<a class="person" href="${href}">${face(user)}${nameWithRole(user)}</a>`;
}

/** The head of a page about a person: the tile, the heading and perhaps a quiet line. */
export function personTop(user: User, heading: Html, line?: Html): Html {
  return html`<div class="about">
    ${face(user, 64)}
    <div><h1>${heading}</h1>${line && html`<p class="soft">${line}</p>`}</div>
  </div>`;
}

/** The person as somebody who may read names that others do not. */
export function viewerOf(visitor: Pick<Visitor, 'user'> | undefined): Viewer | undefined {
  return visitor && { id: visitor.user.id, isModerator: canModerate(visitor.user) };
}

/** The author of a review, with a link to the author's page, and the karma in one quiet line. */
export function authorLine(author: User, when?: Html): Html {
  return html`<div class="author">
      ${face(author, 40)}
      <p><a rel="author" href="${authUrl()}/user/${author.id}">${nameWithRole(author)}</a>${when && html` <span class="soft">${when}</span>`}<br>
      <span class="soft">${standingOf(author)}</span></p>
    </div>`;
}

/** The user type and karma, or the block of an account. */
function standingOf(author: User): Html | string {
  if (author.blocked_at !== undefined) return 'A moderator has blocked this account.';
  const { label } = userTypeOf(author);
  return html`${label === 'Noob' ? 'New author' : label} · <a href="${authUrl()}/help#karma">karma</a> ${author.karma}`;
}
