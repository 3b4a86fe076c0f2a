import { randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import {
  type Application,
  isPublicClient,
  previousSecret,
  type Registration,
} from '../../../core/oauth/application.ts';
import {
  countPeople,
  getOwnApplication,
  listApplications,
} from '../../../core/oauth/application-repository.ts';
import { clientSecret } from '../../../core/oauth/credentials.ts';
import { applicationPath } from '../../../pages/application/application-path.ts';
import { confirmation, radios } from '../../../pages/form/choices.ts';
import {
  blank,
  type FieldLook,
  type FormState,
  faultOf,
  fieldsOf,
} from '../../../pages/form/fields.ts';
import { csrfField, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { dayOf, minuteOf, peopleOf } from '../../../pages/frame/words.ts';
import { listWebhooks } from '../webhook-repository.ts';
import { webhookSection } from './webhook-pages.ts';

/** Page of a person's applications. The form for another one is empty, or filled as submitted. */
export async function applicationsPage({ user, csrf }: Visitor, filled = blank): Promise<Page> {
  const applications = await listApplications(user.id);
  return {
    title: 'Your applications',
    content: html`${faultOf(filled)}
      <section>
        ${applications.length > 0 ? await list(applications) : introduction()}
      </section>
      <section>
        <h2>Register an application</h2>
        ${registrationForm(csrf, filled)}
      </section>`,
  };
}

async function list(applications: readonly Application[]) {
  const people = await Promise.all(applications.map(({ client_id }) => countPeople(client_id)));
  return html`<ul class="plain">
    ${applications.map(
      ({ client_id, name, desc, created }, i) => html`<li>
        <h2><a href="${authUrl()}${applicationPath(client_id)}">${name}</a></h2>
        <dl>
          <dt>Client ID</dt><dd><code>${client_id}</code></dd>
          <dt>Registered</dt><dd>${dayOf(created)}</dd>
          <dt>Used by</dt><dd>${peopleOf(people[i] ?? { count: 0, isMore: false })}</dd>
        </dl>
        ${desc && html`<p class="soft clamp" dir="auto">${desc}</p>`}
      </li>`,
    )}
  </ul>`;
}

function introduction() {
  return html`<p>
      You have not registered an application. An application is your own website or program in which people use their
      accounts here. It asks them for permission, and gets tokens to act for them (OAuth 2.0).
    </p>
    <p>Register it below to get a client ID and a secret.</p>`;
}

/** Page of an application for its owner. Throws ApiError 404 if the user does not own it. */
export async function applicationPage(clientId: string, visitor: Visitor): Promise<Page> {
  const { user, csrf } = visitor;
  const [application, people, webhooks] = await Promise.all([
    getOwnApplication(clientId, user.id),
    countPeople(clientId),
    listWebhooks(clientId),
  ]);
  const url = authUrl() + applicationPath(clientId);
  return {
    title: application.name,
    content: html`${await credentials(application, peopleOf(people), csrf)}
      <section>
        <h2>Registration</h2>
        ${registrationForm(csrf, blank, application)}
      </section>
      ${webhookSection(application, webhooks, visitor)}
      ${
        !isPublicClient(application) &&
        html`<section>
          <h2>Make public</h2>
          <p>
            Do this if the application runs in a browser or on people’s devices, where no secret stays secret. It then
            uses PKCE instead. All access is revoked, because people have to learn that its name is no longer proven.
          </p>
          <form method="post" action="${url}/secret">
            ${csrfField(csrf, { client_type: 'public' })}
            ${confirmation('public', 'Delete the secret and revoke all access')}
            <button class="danger">Make public</button>
          </form>
        </section>`
      }
      <section>
        <h2>Revoke all access</h2>
        <p>
          Do this after a leak. All tokens of the application become invalid at once, and everybody has to connect it
          again. The application stays registered.
        </p>
        <form method="post" action="${url}/revoke">
          ${csrfField(csrf)}
          ${confirmation('everybody', 'Revoke access to all accounts')}
          <button class="danger">Revoke all access</button>
        </form>
      </section>
      <section class="end">
        <h2>Delete application</h2>
        <p>The application loses access to every account at once. Nobody can connect it again.</p>
        <form method="post" action="${url}/delete">
          ${csrfField(csrf)}
          ${confirmation('confirm', `Delete ${application.name}`)}
          <button class="danger">Delete application</button>
        </form>
      </section>`,
  };
}

/** Page of a submitted registration with its errors. Throws ApiError 404 for another person's. */
export async function registrationPage(
  clientId: string,
  { user, csrf }: Visitor,
  filled: FormState,
): Promise<Page> {
  const registration = await getOwnApplication(clientId, user.id);
  return {
    title: registration.name,
    content: html`${faultOf(filled)}
      <section>
        <h2>Registration</h2>
        ${registrationForm(csrf, filled, registration)}
        <p><a href="${authUrl()}${applicationPath(clientId)}">Discard changes</a></p>
      </section>`,
  };
}

async function credentials(application: Application, people: string, csrf: string) {
  const { client_id, created } = application;
  return html`<section>
    <h2>Credentials</h2>
    <dl>
      <dt>Registered</dt><dd>${dayOf(created)}</dd>
      <dt>Used by</dt><dd>${people}</dd>
    </dl>
    <h3>Client ID</h3>
    <p><code class="copy">${client_id}</code></p>
    <h3>Client secret</h3>
    ${isPublicClient(application) ? noSecret(client_id, csrf) : await secretOf(application, csrf)}
  </section>`;
}

function noSecret(clientId: string, csrf: string) {
  return html`<p>
      None. This application is public: it runs in a browser or on people’s devices, and uses PKCE instead of a secret.
      People are told that its name is not proven.
    </p>
    <form method="post" action="${authUrl()}${applicationPath(clientId)}/secret">
      ${csrfField(csrf, { client_type: 'confidential' })}
      <p>If it has moved to a server, create a secret. Without it, its refresh tokens no longer work.</p>
      <button class="quiet">Create secret</button>
    </form>`;
}

async function secretOf(application: Application, csrf: string) {
  const { client_id, secret_id = '' } = application;
  const previous = previousSecret(application);
  return html`<details>
      <summary>Show secret</summary>
      <code class="copy">${await clientSecret(client_id, secret_id)}</code>
    </details>
    <p class="soft">Keep the secret on a server, and never put it in a program that people install. Click it to select all of it.</p>
    <form method="post" action="${authUrl()}${applicationPath(client_id)}/secret">
      ${csrfField(csrf)}
      ${
        previous
          ? html`<input type="hidden" name="previous" value="end">
            <p>The old secret works until ${minuteOf(previous.until)}. An application has at most two secrets.</p>
            <button class="quiet">Revoke old secret</button>`
          : html`<p>If you create a new secret, the old one works for one more day, so that you can replace it.</p>
            <button class="quiet">Create new secret</button>`
      }
    </form>`;
}

const registrationLooks: Readonly<Record<keyof Registration, FieldLook>> = {
  name: { label: 'Name', maxlength: 64, isRequired: true },
  desc: { label: 'What it does', type: 'area', maxlength: 500 },
  website: {
    label: 'Website',
    hint: 'Address where people can read about the application, starting with http:// or https://',
    type: 'url',
    maxlength: 2000,
    isRequired: true,
  },
  redirect_uri: {
    label: 'Redirect URI',
    hint: 'Address to which people return with the answer. Use https, or http on a loopback host such as http://localhost:8080/callback. Requests must send exactly this address.',
    type: 'url',
    maxlength: 2000,
    isRequired: true,
  },
};

/** The form of a registration. Submitting a new one twice creates one application. */
function registrationForm(csrf: string, filled: FormState, registration?: Application) {
  const action = registration ? applicationPath(registration.client_id) : '/account/applications';
  const form_id = filled.values.form_id ?? randomUUID();
  return html`<form method="post" action="${authUrl()}${action}">
    ${csrfField(csrf)}
    ${!registration && html`<input type="hidden" name="form_id" value="${form_id}">`}
    ${fieldsOf(registrationLooks, filled, registration)}
    ${
      !registration &&
      radios({
        name: 'client_type',
        label: 'Where it runs',
        choices: [
          ['confidential', 'On a server, which keeps a client secret'],
          ['public', 'In a browser or on people’s devices, without a secret'],
        ],
        value: 'confidential',
        isRequired: true,
        filled,
      })
    }
    <button>${registration ? 'Save changes' : 'Register application'}</button>
  </form>`;
}
