// The name of a person as pages show it.
import { html } from 'hono/html';
import type { User } from '../user/user.ts';
import { canModerate } from '../user/user-type.ts';
import type { Html } from './layout.ts';

/** The public name, isolated from the direction of the text around it, with a moderator's mark. */
export function nameWithRole(user: User): Html {
  return html`<bdi>${user.display_name}</bdi>${canModerate(user) && html` <span class="role">moderator</span>`}`;
}
