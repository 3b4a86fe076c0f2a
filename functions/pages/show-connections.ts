import { html } from 'hono/html';
import { authUrl } from '../../shared/base/auth-url.ts';
import { findApplications } from '../../shared/core/oauth/application-repository.ts';
import { listGrants } from '../../shared/core/oauth/grant-repository.ts';
import { findUsers } from '../../shared/core/user/user-repository.ts';
import { abilitiesOf, abilityList } from '../../shared/pages/application/abilities.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { csrfField } from '../../shared/pages/frame/layout.ts';
import { dayOf, hostOf } from '../../shared/pages/frame/words.ts';

/** Shows the applications that a person has connected. */
export const handler = page(signedIn({}), async ({ caller }, { visitor }) => {
  const connections = await listConnections(caller.user_id);
  return {
    title: 'Connected applications',
    content: html`<section>
      ${
        connections.length === 0
          ? introduction()
          : html`<ul class="plain">${connections.map((each) => html`<li>${entry(each, visitor.csrf)}</li>`)}</ul>`
      }
    </section>`,
  };
});

type Connection = Awaited<ReturnType<typeof listConnections>>[number];

function entry({ application, developer, grants }: Connection, csrf: string) {
  const { client_id, name, website, redirect_uri } = application;
  const abilities = abilitiesOf([...new Set(grants.flatMap(({ scopes }) => scopes))]);
  // An application gets new tokens about once an hour. Other uses are not recorded.
  const used = grants.map(({ renewed }) => renewed).sort();
  const dangers = abilities.filter(({ isDangerous }) => isDangerous);
  return html`<h2><a href="${website}" rel="noreferrer">${name}</a></h2>
    <dl>
      <dt>Made by</dt><dd>${developer?.display_name ?? 'a deleted account'}, at ${hostOf(redirect_uri)}</dd>
      <dt>Connected</dt><dd>${dayOf(grants[0]?.created ?? '')}${grants.length > 1 && ` (${grants.length} times)`}</dd>
      <dt>Last used</dt><dd>${dayOf(used.at(-1) ?? '')}</dd>
    </dl>
    ${dangers.map(({ can }) => html`<p class="tag">It may ${can.toLowerCase()}.</p>`)}
    <details>
      <summary>What it may do</summary>
      ${abilityList(abilities)}
    </details>
    <form method="post" action="${authUrl()}/account/connections/${client_id}/revoke">
      ${csrfField(csrf)}<button class="danger" aria-label="Revoke access of ${name}">Revoke access</button>
    </form>`;
}

/** Lists the applications that may act for a user, first connected first. */
async function listConnections(userId: string) {
  const byClient = Map.groupBy(await listGrants(userId), ({ client_id }) => client_id);
  const applications = await findApplications([...byClient.keys()]);
  const developers = await findUsers([...applications.values()].map(({ user_id }) => user_id));
  return [...byClient].flatMap(([client_id, grants]) => {
    const application = applications.get(client_id);
    if (!application) return [];
    return [{ application, grants, developer: developers.get(application.user_id) }];
  });
}

function introduction() {
  return html`<p>
      No application is connected. An application that wants to use your account, for example to publish a review for you, sends you here to ask.
    </p>
    <p>This page lists the applications that you allow, what they may do and when they last used your account. You can revoke their access here at any time.</p>`;
}
