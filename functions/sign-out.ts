import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { page } from '../shared/http/page.ts';
import { forget, Session } from '../shared/http/session.ts';

export const request = v.object({ caller: Session });

export const handler = page(request, () => ({
  title: 'You are signed out',
  content: html`<section><p><a href="${authUrl()}/account">Sign in again</a></p></section>`,
  cookies: [forget('session')],
  isFarewell: true,
}));
