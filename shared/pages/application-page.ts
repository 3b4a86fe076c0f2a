import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import { type Application, previousSecret } from '../oauth/application.ts';
import { countPeople } from '../oauth/application-grants.ts';
import { getOwnApplication } from '../oauth/application-repository.ts';
import { clientSecret } from '../oauth/credentials.ts';
import { confirmation, type FormState, faultOf } from './fields.ts';
import type { Page } from './html-response.ts';
import { csrfField, type Html } from './layout.ts';
import { registrationForm } from './registration-form.ts';
import { dayOf, minuteOf, peopleOf } from './words.ts';

/** Page of an application for its owner. Throws ApiError 404 if the user does not own it. */
export async function applicationPage(
  clientId: string,
  userId: string,
  csrf: string,
): Promise<Page> {
  const [application, people] = await Promise.all([
    getOwnApplication(clientId, userId),
    countPeople(clientId),
  ]);
  const at = `${authUrl()}/account/applications/${clientId}`;
  return {
    title: application.name,
    content: html`${credentials(application, await clientSecret(clientId, application.secret_id), at, csrf, peopleOf(people))}
      <section>
        <h2>Registration</h2>
        ${registrationForm(at, csrf, 'Save changes', { registration: application })}
      </section>
      <section>
        <h2>Revoke all access</h2>
        <p>
          Do this after a leak. All tokens of the application become invalid at once, and everybody has to connect it
          again. The application stays registered and keeps its secret.
        </p>
        <form method="post" action="${at}/revoke">
          ${csrfField(csrf)}
          ${confirmation('everybody', 'Revoke access to all accounts')}
          <button class="danger">Revoke all access</button>
        </form>
      </section>
      <section class="end">
        <h2>Delete application</h2>
        <p>The application loses access to every account at once. Nobody can connect it again.</p>
        <form method="post" action="${at}/delete">
          ${csrfField(csrf)}
          ${confirmation('confirm', `Delete ${application.name}`)}
          <button class="danger">Delete application</button>
        </form>
      </section>`,
  };
}

/**
 * Page of a submitted registration with its errors. Throws ApiError 404 if the user does not own
 * the application.
 */
export async function registrationPage(
  clientId: string,
  userId: string,
  csrf: string,
  filled: FormState,
): Promise<Page> {
  const registration = await getOwnApplication(clientId, userId);
  const at = `${authUrl()}/account/applications/${clientId}`;
  return {
    title: registration.name,
    content: html`${faultOf(filled)}
      <section>
        <h2>Registration</h2>
        ${registrationForm(at, csrf, 'Save changes', { registration, filled })}
        <p><a href="${at}">Discard changes</a></p>
      </section>`,
  };
}

function credentials(
  application: Application,
  secret: string,
  at: string,
  csrf: string,
  people: string,
): Html {
  const previous = previousSecret(application);
  return html`<section>
    <h2>Credentials</h2>
    <dl>
      <dt>Registered</dt><dd>${dayOf(application.created)}</dd>
      <dt>Used by</dt><dd>${people}</dd>
    </dl>
    <h3>Client ID</h3>
    <p><code class="copy">${application.client_id}</code></p>
    <h3>Client secret</h3>
    <details>
      <summary>Show secret</summary>
      <code class="copy">${secret}</code>
    </details>
    <p class="soft">Keep the secret on a server, and never put it in a program that people install. Click it to select all of it.</p>
    ${
      previous
        ? html`<form method="post" action="${at}/secret">
            ${csrfField(csrf)}
            <input type="hidden" name="previous" value="end">
            <p>The old secret works until ${minuteOf(previous.until)}. An application has at most two secrets.</p>
            <button class="quiet">Revoke old secret</button>
          </form>`
        : html`<form method="post" action="${at}/secret">
            ${csrfField(csrf)}
            <p>If you create a new secret, the old one works for one more day, so that you can replace it.</p>
            <button class="quiet">Create new secret</button>
          </form>`
    }
  </section>`;
}
