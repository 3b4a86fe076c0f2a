import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { findApplications } from '../shared/oauth/application-repository.ts';
import { listGrants } from '../shared/oauth/grant-repository.ts';
import { baseDescription, scopeDescriptions } from '../shared/oauth/scopes.ts';
import { csrfField } from '../shared/pages/layout.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({ caller: Session });

/** Shows which applications may act for the person, what each may do, since when, and how to end it. */
export const handler = page(request, async ({ caller }, { visitor }) => {
  const byClient = Map.groupBy(await listGrants(caller.user_id), ({ client_id }) => client_id);
  const applications = await findApplications([...byClient.keys()]);
  const connections = [...byClient].flatMap(([client_id, grants]) => {
    const application = applications.get(client_id);
    const scopes = [...new Set(grants.flatMap((grant) => grant.scopes))];
    return application ? [{ application, scopes, since: grants[0]?.created.slice(0, 10) }] : [];
  });
  return {
    title: 'Connected applications',
    content: html`<section>
      ${connections.length === 0 ? html`<p>No application can act for you.</p>` : ''}
      <ul class="plain">
        ${connections.map(
          ({ application, scopes, since }) => html`<li>
            <h2><a href="${application.website}" rel="noreferrer">${application.name}</a></h2>
            <p class="soft">since ${since}</p>
            <ul>
              <li>${baseDescription}</li>
              ${scopes.map((scope) => html`<li>${scopeDescriptions[scope]}</li>`)}
            </ul>
            <form method="post" action="${authUrl()}/account/connections/${application.client_id}/revoke">
              ${csrfField(visitor.csrf)}<button class="danger" aria-label="Revoke access of ${application.name}">Revoke access</button>
            </form>
          </li>`,
        )}
      </ul>
    </section>`,
  };
});
