import { randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import { type Scope, scopes, version } from '../../../base/routes.ts';
import { isoOf } from '../../../base/time.ts';
import {
  lifetimes,
  listPersonalTokens,
  mostPersonalTokens,
  type PersonalToken,
} from '../../../core/oauth/personal-token-repository.ts';
import { scopeAbilities } from '../../../core/oauth/scopes.ts';
import { abilitiesOf, abilityList } from '../../../pages/application/abilities.ts';
import { checkbox, select } from '../../../pages/form/choices.ts';
import { blank, type FormState, faultOf, field } from '../../../pages/form/fields.ts';
import { csrfField, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { dayOf } from '../../../pages/frame/words.ts';

/** Page of a person's tokens. The form for another one is empty, or filled as submitted. */
export async function tokensPage({ user, csrf }: Visitor, filled = blank): Promise<Page> {
  const tokens = await listPersonalTokens(user.id);
  return {
    title: 'Personal access tokens',
    content: html`${faultOf(filled)}
      <section>
        ${tokens.length > 0 ? list(tokens, csrf) : introduction()}
      </section>
      <section>
        <h2>Create a token</h2>
        ${form(csrf, filled)}
      </section>`,
  };
}

/** Page of a new token, which is shown only once. */
export function newTokenPage(
  name: string,
  { access_token, expires_at }: { access_token: string; expires_at: number },
  scopes: readonly Scope[],
): Page {
  return {
    title: 'Your new token',
    content: html`<section>
      <p>Copy <strong>${name}</strong> now. It is not shown again. It expires on ${dayOf(isoOf(expires_at))}.</p>
      <p><code class="copy">${access_token}</code></p>
      <p class="soft">Anyone who has this token can act as you. Keep it secret. Click it to select all of it.</p>
      <h2>Try it</h2>
      ${scopes.length === 0 && html`<p>This token has no scopes. It can read your profile, reviews and drafts, but cannot change anything.</p>`}
      <p><code class="copy">${attempt(`${authUrl()}${version}`, access_token, scopes)}</code></p>
      <form method="get" action="${authUrl()}/account/tokens"><button>I have copied the token</button></form>
    </section>`,
  };
}

function attempt(baseUrl: string, token: string, scopes: readonly Scope[]) {
  const curl = `curl -H "Authorization: Bearer ${token}" ${baseUrl}`;
  if (!scopes.includes('review')) return `${curl}/user/me`;
  const review = {
    entity_id: randomUUID(),
    entity_type: 'release_group',
    language: 'en',
    text: 'Forty minutes that reward every new listen.',
    license_choice: 'CC BY-SA 4.0',
  };
  return `${curl}/review/ -H "Content-Type: application/json" -d '${JSON.stringify(review)}'`;
}

function list(tokens: readonly PersonalToken[], csrf: string) {
  return html`<ul class="plain">
    ${tokens.map(
      ({ grant_id, name, scopes, created, expires_at }) => html`<li>
        <h2>${name}</h2>
        <dl>
          <dt>Created</dt><dd>${dayOf(created)}</dd>
          <dt>Expires</dt><dd>${dayOf(isoOf(expires_at))}</dd>
          <dt>Scopes</dt><dd>${scopes.join(', ') || 'none'}</dd>
        </dl>
        <details><summary>What it may do</summary>${abilityList(abilitiesOf(scopes))}</details>
        <form method="post" action="${authUrl()}/account/tokens/${grant_id}/revoke">
          ${csrfField(csrf)}<button class="danger" aria-label="Revoke token ${name}">Revoke token</button>
        </form>
      </li>`,
    )}
  </ul>`;
}

function introduction() {
  return html`<p>
      You have no tokens. With a personal access token, your own script or program can use your account here without
      registering an application. It sends the token in the header <code>Authorization: Bearer</code>.
    </p>
    <p class="soft">You can have up to ${mostPersonalTokens} tokens. For programs that other people use, register an application.</p>`;
}

function form(csrf: string, filled: FormState) {
  return html`<form method="post" action="${authUrl()}/account/tokens">
    ${csrfField(csrf)}
    ${field({ name: 'name', label: 'Name', hint: 'The purpose of the token, so that you know which one to revoke.', maxlength: 64, isRequired: true, filled })}
    ${select({
      name: 'days',
      label: 'Expires after',
      options: lifetimes.map((days) => [`${days}`, days === 365 ? '1 year' : `${days} days`]),
      value: '30',
      filled,
    })}
    <fieldset>
      <legend>In addition to reading your profile, reviews and drafts, it may</legend>
      ${scopes.map((scope) => scopeBox(scope, filled.values[scope] === 'yes'))}
    </fieldset>
    <button>Create token</button>
  </form>`;
}

function scopeBox(scope: Scope, isTicked: boolean) {
  const abilities = scopeAbilities[scope].map(
    ({ can, detail, isDangerous }) =>
      html`<span${isDangerous && html` class="tag"`}>${can}.</span> <span class="soft">${detail}.</span> `,
  );
  return checkbox({ name: scope, words: html`<code>${scope}</code> ${abilities}`, isTicked });
}
