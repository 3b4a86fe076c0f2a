import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import { type Application, previousSecret } from '../oauth/application.ts';
import { countPeople } from '../oauth/application-grants.ts';
import { getOwnApplication } from '../oauth/application-repository.ts';
import { clientSecret } from '../oauth/credentials.ts';
import { confirmation, type Filled, faultOf } from './fields.ts';
import type { Page } from './html-response.ts';
import { csrfField, type Html } from './layout.ts';
import { registrationForm } from './registration-form.ts';
import { dayOf, minuteOf, peopleOf } from './words.ts';

/** An application for its owner. Throws ApiError 404 when it is not this owner's. */
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
        ${registrationForm(at, csrf, 'Save', { registration: application })}
      </section>
      <section>
        <h2>End everybody’s access</h2>
        <p>
          After a leak: all tokens that the application has are refused from now on, and everybody has to connect it
          anew. It stays registered, and so does its secret.
        </p>
        <form method="post" action="${at}/revoke">
          ${csrfField(csrf)}
          ${confirmation('everybody', 'End the access to all accounts')}
          <button class="danger">End everybody’s access</button>
        </form>
      </section>
      <section class="end">
        <h2>Delete the application</h2>
        <p>It loses its access to every account at once, and nobody can connect it any more.</p>
        <form method="post" action="${at}/delete">
          ${csrfField(csrf)}
          ${confirmation('confirm', `Delete ${application.name}`)}
          <button class="danger">Delete</button>
        </form>
      </section>`,
  };
}

/** The registration of an application as it was sent, with what is wrong. Throws ApiError 404 when it is not this owner's. */
export async function registrationPage(
  clientId: string,
  userId: string,
  csrf: string,
  filled: Filled,
): Promise<Page> {
  const registration = await getOwnApplication(clientId, userId);
  const at = `${authUrl()}/account/applications/${clientId}`;
  return {
    title: registration.name,
    content: html`${faultOf(filled)}
      <section>
        <h2>Registration</h2>
        ${registrationForm(at, csrf, 'Save', { registration, filled })}
        <p><a href="${at}">Leave it as it was</a></p>
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
      <summary>Show the secret</summary>
      <code class="copy">${secret}</code>
    </details>
    <p class="soft">Keep it to yourself: on a server, and in no program that people install. One click selects all of it.</p>
    ${
      previous
        ? html`<form method="post" action="${at}/secret">
            ${csrfField(csrf)}
            <input type="hidden" name="previous" value="end">
            <p>The old secret works until ${minuteOf(previous.until)}. There can be two at most.</p>
            <button class="quiet">End the old secret now</button>
          </form>`
        : html`<form method="post" action="${at}/secret">
            ${csrfField(csrf)}
            <p>With a new secret the old one works for another day, so that you can change over.</p>
            <button class="quiet">Make a new secret</button>
          </form>`
    }
  </section>`;
}
