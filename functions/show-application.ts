import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { PathParameter } from '../shared/http/request.ts';
import { ClientId, previousSecret } from '../shared/oauth/application.ts';
import { getOwnApplication } from '../shared/oauth/application-repository.ts';
import { clientSecret } from '../shared/oauth/credentials.ts';
import { csrfField } from '../shared/pages/layout.ts';
import { page } from '../shared/pages/page.ts';
import { registrationForm } from '../shared/pages/registration-form.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ client_id: PathParameter('Application', ClientId) }),
});

export const handler = page(request, async ({ caller, path }, { visitor }) => {
  const application = await getOwnApplication(path.client_id, caller.user_id);
  const { client_id, secret_id } = application;
  const previous = previousSecret(application);
  const at = `${authUrl()}/account/applications/${client_id}`;
  const csrf = visitor.csrf;
  return {
    title: application.name,
    content: html`<section>
        <h2>Credentials</h2>
        <dl>
          <dt>Client ID</dt><dd><code>${client_id}</code></dd>
          <dt>Client secret</dt><dd><code>${await clientSecret(client_id, secret_id)}</code></dd>
        </dl>
        <p class="soft">Keep the secret to yourself. With a new one the old one works for another day, unless you end it.</p>
        <form method="post" action="${at}/secret">
          ${csrfField(csrf)}<button class="quiet">Make a new secret</button>
        </form>
        ${
          previous &&
          html`<form method="post" action="${at}/secret">
            ${csrfField(csrf)}
            <input type="hidden" name="previous" value="end">
            <p>The old secret works until ${`${previous.until.slice(0, 16).replace('T', ' ')} UTC`}.</p>
            <button class="quiet">End the old secret now</button>
          </form>`
        }
      </section>
      <section>
        <h2>Registration</h2>
        ${registrationForm(at, csrf, 'Save', application)}
      </section>
      <section>
        <h2>Delete the application</h2>
        <p>It loses its access to every account at once.</p>
        <form method="post" action="${at}/delete">
          ${csrfField(csrf)}
          <label class="check"><input type="checkbox" name="confirm" value="yes" required> Delete ${application.name}</label>
          <button class="danger">Delete</button>
        </form>
      </section>`,
  };
});
