import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { farewell } from '../../shared/features/account/public.ts';
import { page } from '../../shared/pages/form/page.ts';
import { csrfField } from '../../shared/pages/frame/layout.ts';
import { readCookie } from '../../shared/pages/session/session.ts';

/** Receives a person after the sign-out at the identity provider. Asks if still signed in here. */
export const handler = page(v.object({}), (_, { event, visitor }) => {
  if (!visitor) return farewell(readCookie(event, 'deleted') === 'yes' ? 'deletion' : 'sign-out');
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
