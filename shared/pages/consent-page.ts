import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import type { Application } from '../oauth/application.ts';
import type { AuthorizationRequest } from '../oauth/authorization-request.ts';
import type { Grant } from '../oauth/grant.ts';
import type { User } from '../user/user.ts';
import { abilitiesOf, abilityList } from './abilities.ts';
import { signInUrl, type Way, waysOn } from './error-page.ts';
import type { Page } from './html-response.ts';
import { csrfField, type Html, type Visitor } from './layout.ts';
import { dayOf, hostOf, peopleOf } from './words.ts';

/** What is known of an application by others than its developer. */
export interface Reputation {
  developer: Pick<User, 'display_name' | 'blocked_at'> | undefined;
  people: { count: number; isMore: boolean };
  /** What the person who is asked has granted it already, oldest first. */
  granted: readonly Grant[];
}

/**
 * Asks a person whether an application may act: who it is and what it would get, and last what its
 * developer says of it. An application of a blocked developer is not asked about.
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
  const at = consentUrl(id);
  return {
    title: `Let ${name} use your account?`,
    isWayOut: true,
    isDecision: true,
    asksName: true,
    content: html`<section>
        <p>
          <strong>${name}</strong> asks to act for you, <strong>${user.display_name}</strong>.
          <a href="${signInUrl(at, true)}">Not you? Use another account</a>
        </p>
        ${whatItGets(name, request.scopes, granted)}
        <h2>Who is asking</h2>
        <dl>
          <dt>Made by</dt><dd>${developer?.display_name ?? 'somebody who has left'}</dd>
          <dt>Sends you to</dt><dd>${hostOf(request.redirect_uri)}</dd>
          <dt>Registered</dt><dd>${dayOf(created)}</dd>
          <dt>Used by</dt><dd>${peopleOf(people)}</dd>
        </dl>
        <form method="post" action="${at}">
          ${csrfField(csrf)}
          <div class="buttons">
            <button class="late" name="decision" value="approve">Allow</button>
            <button name="decision" value="refuse" class="quiet">Do not allow</button>
          </div>
        </form>
        <p class="soft">You can end this at any time: it is listed under Connections in your account.</p>
      </section>
      <section>
        <h2>What its developer says</h2>
        ${desc && html`<p class="soft clamp">${desc}</p>`}
        <p>Website: <a href="${website}" rel="noreferrer">${hostOf(website)}</a></p>
      </section>`,
  };
}

/** The address at which a kept request is asked about. */
export function consentUrl(id: string): string {
  return `${authUrl()}/oauth/authorize?${new URLSearchParams({ request_id: id })}`;
}

/** What stands in the way of a consent. */
interface Obstacle {
  title: string;
  /** Who asked, where that is known. */
  application: Pick<Application, 'name' | 'website' | 'redirect_uri'> | undefined;
  /** What happened, in a sentence without its full stop. */
  what: string;
  /** What the developer of the application has to mend, likewise. */
  fault?: string;
  /** Where one can go on; unless it is given, back to the website of the application, and to the account. */
  ways?: readonly Way[];
  status?: number;
}

/** Says who sent a person here, what is in the way, and how to go on. */
export function obstaclePage({
  title,
  application,
  what,
  fault,
  ways,
  status = 400,
}: Obstacle): Page {
  const account = { href: `${authUrl()}/account`, text: 'Go to your account' };
  return {
    status,
    title,
    content: html`<section>
      ${
        application &&
        html`<p>
          <strong>${application.name}</strong> (${hostOf(application.redirect_uri)}) sent you here, and asks to act for you.
        </p>`
      }
      <p>${what}.</p>
      ${fault && html`<details><summary>For the developer</summary><p>${fault}.</p></details>`}
      ${waysOn(...(ways ?? (application ? [backTo(application), account] : [account])))}
    </section>`,
  };
}

/**
 * Says that an application can have no consent while its owner is blocked. Nobody is sent on to it,
 * and no link leads there.
 */
export function blockedOwnerPage(application: Application): Page {
  return obstaclePage({
    title: `${application.name} cannot be connected`,
    application,
    what: 'A moderator has blocked the account of its developer, so it gets no access. It has got nothing of yours',
    ways: [{ href: `${authUrl()}/account`, text: 'Go to your account' }],
    status: 403,
  });
}

/** The way back to an application: `href`, or its website, unless that is not where it sends people. */
export function backTo(
  { website, redirect_uri }: Pick<Application, 'website' | 'redirect_uri'>,
  href?: string,
): Way {
  const host = hostOf(redirect_uri);
  const home = hostOf(website) === host ? website : URL.parse('/', redirect_uri)?.href;
  return { href: href ?? home ?? website, text: `Go back to ${host}` };
}

function whatItGets(
  name: string,
  scopes: AuthorizationRequest['scopes'],
  granted: readonly Grant[],
): Html {
  const before =
    granted.length > 0 ? [...new Set(granted.flatMap((grant) => grant.scopes))] : undefined;
  const added = abilitiesOf(scopes, before);
  const safe = added.filter(({ isDangerous }) => !isDangerous);
  const dangerous = added.filter(({ isDangerous }) => isDangerous);
  return html`${
    before &&
    html`<h2>You have allowed ${name} before, so it already may</h2>
      ${abilityList(abilitiesOf(before))}`
  }
    <h2>${before ? 'This adds' : 'It will be able to'}</h2>
    ${added.length === 0 && html`<p>Nothing: it is let in once more, on another device for instance.</p>`}
    ${safe.length > 0 && abilityList(safe)}
    ${
      dangerous.length > 0 &&
      html`<div class="warning">
        <h3>Careful: it will also be able to</h3>
        ${abilityList(dangerous)}
        <p>Allow this only if you know what for.</p>
      </div>`
    }`;
}
