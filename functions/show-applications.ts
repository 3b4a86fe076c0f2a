import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { listApplications } from '../shared/oauth/application-repository.ts';
import { page } from '../shared/pages/page.ts';
import { registrationForm } from '../shared/pages/registration-form.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({ caller: Session });

export const handler = page(request, async ({ caller }, { visitor }) => {
  const applications = await listApplications(caller.user_id);
  const at = `${authUrl()}/account/applications`;
  return {
    title: 'Your applications',
    content: html`${
      applications.length > 0 &&
      html`<section>
        <ul class="plain">
          ${applications.map(
            ({ client_id, name, desc }) => html`<li>
              <a href="${at}/${client_id}">${name}</a>
              <div class="soft clamp">${desc}</div>
            </li>`,
          )}
        </ul>
      </section>`
    }
      <section>
        <h2>Register an application</h2>
        ${registrationForm(at, visitor.csrf, 'Register')}
      </section>`,
  };
});
