import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { farewell } from '../shared/pages/farewell.ts';
import { csrfField } from '../shared/pages/layout.ts';
import { page } from '../shared/pages/page.ts';
import { hasDeleted } from '../shared/pages/session.ts';

export const request = v.object({});

/**
 * Receives a person after the identity provider has ended its session. Asks first if the person is
 * still signed in here.
 */
export const handler = page(request, (_, { event, visitor }) => {
  if (!visitor) return farewell(hasDeleted(event) ? 'deletion' : 'sign-out');
  return {
    title: 'Sign out?',
    content: html`<section>
      <p>
        You are signed in as <strong>${visitor.user.display_name}</strong>.
        <a href="${authUrl()}/account">Go to your account</a>
      </p>
      <form method="post" action="${authUrl()}/account/sign-out">
        ${csrfField(visitor.csrf)}<button>Sign out</button>
      </form>
    </section>`,
    isLast: true,
  };
});
