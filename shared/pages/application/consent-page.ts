import { html } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import type { Scope } from '../../base/routes.ts';
import { type Application, isPublicClient } from '../../core/oauth/application.ts';
import type { AuthorizationRequest } from '../../core/oauth/authorization-request.ts';
import type { Grant } from '../../core/oauth/grant.ts';
import type { User } from '../../core/user/user.ts';
import { csrfField, type Page, type Visitor } from '../frame/layout.ts';
import { type NextStep, nextSteps, signInUrl, toAccount } from '../frame/next-steps.ts';
import { withQuery } from '../frame/own-url.ts';
import { dayOf, hostOf, peopleOf } from '../frame/words.ts';
import { abilitiesOf, abilityList } from './abilities.ts';

/** Facts about an application that its developer has not provided, with the person's grants. */
interface Reputation {
  developer: User | undefined;
  people: { count: number; isMore: boolean };
  granted: readonly Grant[];
}

/**
 * Asks a person whether an application may act for them, unless its developer is blocked. The words
 * of the developer come last, after the facts.
 */
export function consentPage(
  id: string,
  request: AuthorizationRequest,
  application: Application,
  { developer, people, granted }: Reputation,
  { user, csrf }: Visitor,
): Page {
  if (developer?.blocked_at !== undefined) return blockedOwnerPage(application);
  const { name, website, desc, created } = application;
  const url = consentUrl(id);
  return {
    title: `Let ${name} use your account?`,
    isDecision: true,
    content: html`<section>
        <p>
          <strong>${name}</strong> asks to act for you, <strong>${user.display_name}</strong>.
          <a href="${signInUrl(url, 'login')}">Not you? Use another account</a>
        </p>
        ${whatItGets(name, request.scopes, granted)}
        <h2>Who is asking</h2>
        <dl>
          <dt>Made by</dt><dd>${developer?.display_name ?? 'a deleted account'}</dd>
          <dt>Sends you to</dt><dd>${hostOf(request.redirect_uri)}</dd>
          <dt>Registered</dt><dd>${dayOf(created)}</dd>
          <dt>Used by</dt><dd>${peopleOf(people)}</dd>
        </dl>
        ${
          isPublicClient(application) &&
          html`<p class="warning">
            Its name is not proven. This application runs in a browser or on a device, where another program can use the
            same name. Allow it only if you have just started it yourself.
          </p>`
        }
        <form method="post" action="${url}">
          ${csrfField(csrf)}
          <div class="buttons">
            <button class="late" name="decision" value="approve">Allow</button>
            <button name="decision" value="refuse" class="quiet">Do not allow</button>
          </div>
        </form>
        <p class="soft">You can revoke access at any time under Connections in your account.</p>
      </section>
      <section>
        <h2>What its developer says</h2>
        ${desc && html`<p class="soft clamp" dir="auto">${desc}</p>`}
        <p>Website: <a href="${website}" rel="noreferrer">${hostOf(website)}</a></p>
      </section>`,
  };
}

/** Address of the question about a stored request. */
export function consentUrl(id: string): string {
  return withQuery(`${authUrl()}/oauth/authorize`, { request_id: id });
}

interface Obstacle {
  title: string;
  application?: Application | undefined;
  /** Explanation: a sentence without its full stop. */
  what: string;
  /** Error for the developer to fix, also without a full stop. */
  fault?: string;
  /** Links to continue. Default: the application's website and the account. */
  ways?: readonly NextStep[];
  status?: number;
}

/** Explains which application sent the person, what the obstacle is, and how to continue. */
export function obstaclePage(obstacle: Obstacle): Page {
  const { title, application, what, fault, status = 400 } = obstacle;
  const { ways = application ? [backTo(application), toAccount()] : [toAccount()] } = obstacle;
  return {
    status,
    title,
    content: html`<section>
      ${
        application &&
        html`<p>
          <strong>${application.name}</strong> (${hostOf(application.redirect_uri)}) sent you here and asks to act for you.
        </p>`
      }
      <p>${what}.</p>
      ${fault && html`<details><summary>For the developer</summary><p>${fault}.</p></details>`}
      ${nextSteps(...ways)}
    </section>`,
  };
}

/** Explains that the owner of an application is blocked. No link leads back to the application. */
export function blockedOwnerPage(application: Application): Page {
  return obstaclePage({
    title: `${application.name} cannot be connected`,
    application,
    what: 'A moderator has blocked the account of its developer. It cannot get access to your account',
    ways: [toAccount()],
    status: 403,
  });
}

/**
 * Link back to an application: `href`, or its website. The root of the redirect URI's host replaces
 * a website on another host.
 */
export function backTo({ website, redirect_uri }: Application, href?: string): NextStep {
  const host = hostOf(redirect_uri);
  const home = hostOf(website) === host ? website : URL.parse('/', redirect_uri)?.href;
  return { href: href ?? home ?? website, text: `Go back to ${host}` };
}

function whatItGets(name: string, scopes: readonly Scope[], granted: readonly Grant[]) {
  const grantedScopes = [...new Set(granted.flatMap((grant) => grant.scopes))];
  const before = granted.length > 0 ? grantedScopes : undefined;
  const added = abilitiesOf(scopes, before);
  const safe = added.filter(({ isDangerous }) => !isDangerous);
  const dangerous = added.filter(({ isDangerous }) => isDangerous);
  return html`${
    before &&
    html`<h2>You have allowed ${name} before, so it already may</h2>
      ${abilityList(abilitiesOf(before))}`
  }
    <h2>${before ? 'This adds' : 'It will be able to'}</h2>
    ${added.length === 0 && html`<p>No new access. ${name} asks again, for example because you use another device.</p>`}
    ${safe.length > 0 && abilityList(safe)}
    ${
      dangerous.length > 0 &&
      html`<div class="warning">
        <h3>Careful: it will also be able to</h3>
        ${abilityList(dangerous)}
        <p>Allow this only if you know why the application needs it.</p>
      </div>`
    }`;
}
