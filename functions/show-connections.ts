import { html } from 'hono/html';
import { authUrl } from '../shared/auth-url.ts';
import { type Connection, listConnections } from '../shared/oauth/connections.ts';
import { abilitiesOf, abilityList } from '../shared/pages/abilities.ts';
import { csrfField } from '../shared/pages/layout.ts';
import { page, signedIn } from '../shared/pages/page.ts';
import { dayOf, hostOf } from '../shared/pages/words.ts';

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

function entry({ application, developer, grants, scopes }: Connection, csrf: string) {
  const { client_id, name, website, redirect_uri } = application;
  const abilities = abilitiesOf(scopes);
  const dangers = abilities.filter(({ isDangerous }) => isDangerous);
  return html`<h2><a href="${website}" rel="noreferrer">${name}</a></h2>
    <dl>
      <dt>Made by</dt><dd>${developer?.display_name ?? 'a deleted account'}, at ${hostOf(redirect_uri)}</dd>
      <dt>Connected</dt><dd>${dayOf(grants.first)}${grants.count > 1 && ` (${grants.count} times)`}</dd>
      <dt>Last used</dt><dd>${dayOf(grants.used)}</dd>
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

function introduction() {
  return html`<p>
      No application is connected. An application that wants to use your account, for example to publish a review for you, sends you here to ask.
    </p>
    <p>This page lists the applications that you allow, what they may do and when they last used your account. You can revoke their access here at any time.</p>`;
}
