import { randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import type { Registration } from '../oauth/application.ts';
import { blank, type FormState, field } from './fields.ts';
import { csrfField, type Html } from './layout.ts';

const empty: Registration = { name: '', desc: '', website: '', redirect_uri: '' };

/**
 * Renders the form to register an application, or to change its registration. Submitting a new
 * registration twice creates one application.
 */
export function registrationForm(
  action: string,
  csrf: string,
  button: string,
  { registration, filled = blank }: { registration?: Registration; filled?: FormState } = {},
): Html {
  const { name, desc, website, redirect_uri } = registration ?? empty;
  const form_id = filled.values.form_id ?? randomUUID();
  return html`<form method="post" action="${action}">
    ${csrfField(csrf)}
    ${registration ? '' : html`<input type="hidden" name="form_id" value="${form_id}">`}
    ${field({ name: 'name', label: 'Name', value: name, maxlength: 64, isRequired: true }, filled)}
    ${field({ name: 'desc', label: 'What it does', type: 'area', value: desc, maxlength: 500 }, filled)}
    ${field(
      {
        name: 'website',
        label: 'Website',
        hint: 'Address where people can read about the application, starting with http:// or https://',
        type: 'url',
        value: website,
        maxlength: 2000,
        isRequired: true,
      },
      filled,
    )}
    ${field(
      {
        name: 'redirect_uri',
        label: 'Redirect URI',
        hint: 'Address to which people return with the answer. Use https, or http on a loopback host such as http://localhost:8080/callback. Requests must send exactly this address.',
        type: 'url',
        value: redirect_uri,
        maxlength: 2000,
        isRequired: true,
      },
      filled,
    )}
    <button>${button}</button>
  </form>`;
}
