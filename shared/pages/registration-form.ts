import { randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import type { Registration } from '../oauth/application.ts';
import { csrfField, type Html } from './layout.ts';

const empty: Registration = { name: '', desc: '', website: '', redirect_uri: '' };

/** The form for what an owner tells of an application, new or registered. A form for a new one that is sent twice makes one. */
export function registrationForm(
  action: string,
  csrf: string,
  button: string,
  registration?: Registration,
): Html {
  const { name, desc, website, redirect_uri } = registration ?? empty;
  return html`<form method="post" action="${action}">
    ${csrfField(csrf)}
    ${registration ? '' : html`<input type="hidden" name="form_id" value="${randomUUID()}">`}
    <label>Name
      <input type="text" name="name" value="${name}" required maxlength="128">
    </label>
    <label>What it does
      <textarea name="desc" maxlength="1000">${desc}</textarea>
    </label>
    <label>Website
      <input type="url" name="website" value="${website}" required maxlength="2000" placeholder="https://">
    </label>
    <label>Redirect URI
      <input type="url" name="redirect_uri" value="${redirect_uri}" required maxlength="2000" placeholder="https://">
    </label>
    <p class="soft">The redirect URI must be https, or http on a loopback host, and is compared letter by letter.</p>
    <button>${button}</button>
  </form>`;
}
