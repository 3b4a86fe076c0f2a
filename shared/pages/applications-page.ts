import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import type { Application } from '../oauth/application.ts';
import { countPeople } from '../oauth/application-grants.ts';
import { listApplications } from '../oauth/application-repository.ts';
import { blank, type FormState, faultOf } from './fields.ts';
import type { Page } from './html-response.ts';
import type { Html } from './layout.ts';
import { registrationForm } from './registration-form.ts';
import { dayOf, peopleOf } from './words.ts';

/**
 * Page of the applications that a person has registered. The form for another one is empty, or
 * filled as submitted.
 */
export async function applicationsPage(
  userId: string,
  csrf: string,
  filled: FormState = blank,
): Promise<Page> {
  const applications = await listApplications(userId);
  const at = `${authUrl()}/account/applications`;
  return {
    title: 'Your applications',
    content: html`${faultOf(filled)}
      <section>
        ${applications.length > 0 ? await list(applications) : introduction()}
      </section>
      <section>
        <h2>Register an application</h2>
        ${registrationForm(at, csrf, 'Register application', { filled })}
      </section>`,
  };
}

async function list(applications: readonly Application[]): Promise<Html> {
  const people = await Promise.all(applications.map(({ client_id }) => countPeople(client_id)));
  return html`<ul class="plain">
    ${applications.map(
      ({ client_id, name, desc, created }, i) => html`<li>
        <h2><a href="${authUrl()}/account/applications/${client_id}">${name}</a></h2>
        <dl>
          <dt>Client ID</dt><dd><code>${client_id}</code></dd>
          <dt>Registered</dt><dd>${dayOf(created)}</dd>
          <dt>Used by</dt><dd>${peopleOf(people[i] ?? { count: 0, isMore: false })}</dd>
        </dl>
        ${desc && html`<p class="soft clamp">${desc}</p>`}
      </li>`,
    )}
  </ul>`;
}

function introduction(): Html {
  return html`<p>
      You have not registered an application. An application is your own website or program in which people use their
      accounts here. It asks them for permission, and gets tokens to act for them (OAuth 2.0).
    </p>
    <p>Register it below to get a client ID and a secret.</p>`;
}
