import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { invalidRequest } from '../shared/errors.ts';
import type { Application } from '../shared/oauth/application.ts';
import { findApplication } from '../shared/oauth/application-repository.ts';
import {
  applicationChanged,
  getAuthorizationRequest,
  insertAuthorizationRequest,
} from '../shared/oauth/authorization-repository.ts';
import {
  type Asked,
  type AuthorizationRequest,
  answerUri,
  readAuthorizationRequest,
  stateOf,
} from '../shared/oauth/authorization-request.ts';
import { baseDescription, scopeDescriptions } from '../shared/oauth/scopes.ts';
import type { Page, Redirect, Visitor } from '../shared/pages/html-response.ts';
import { csrfField } from '../shared/pages/layout.ts';
import { page, signInFirst } from '../shared/pages/page.ts';
import { openRequest, sealRequest } from '../shared/pages/sealed-request.ts';
import type { Scope } from '../shared/routes.ts';

export const request = v.object({});

type Parameters = Record<string, string[] | undefined>;

/**
 * The authorization endpoint (RFC 6749 section 3.1) asks the person who has signed in. Whoever has not signs in first, and is sent to no
 * client before (RFC 9700 section 4.11.2). Such a request leaves nothing in the table: it goes along, and comes back as `sealed_request`.
 * A request that a person is asked about lies in the table, and is shown by its `request_id`.
 */
export const handler = page(request, async (_, { event, visitor }) => {
  const parameters: Parameters = event.multiValueQueryStringParameters ?? {};
  const sealed = atMostOne(parameters, 'sealed_request');
  const id = atMostOne(parameters, 'request_id');
  if (sealed === undefined && id === undefined) {
    const application = await findClient(parameters);
    const { client_id } = application;
    const asked = readAuthorizationRequest(parameters);
    const state = stateOf(parameters);
    if (visitor) {
      const kept = await keep(application, asked, state);
      return 'location' in kept ? kept : consentPage(kept.id, kept, application, visitor);
    }
    const query = new URLSearchParams({
      sealed_request: await sealRequest({ client_id, state, asked }),
    });
    return signInFirst(event, `${query}`);
  }
  if (!visitor) return signInFirst(event);
  if (sealed === undefined) return askKept(id ?? '', visitor);
  const { client_id, state, asked } = await openRequest(sealed);
  const application = await findApplication(client_id);
  if (!application) throw applicationChanged();
  const kept = await keep(application, asked, state);
  // Whoever loads the page again, or comes back to it, means the same request.
  return 'location' in kept ? kept : { location: pageOf(kept.id) };
});

function atMostOne(parameters: Parameters, name: string): string | undefined {
  const [value, ...more] = parameters[name] ?? [];
  if (more.length > 0) throw invalidRequest(`${name} must be sent only once`);
  return value;
}

/** Keeps a request that is in order, for its user to be asked. One that is at fault is sent back to the client. */
async function keep(
  application: Application,
  asked: Asked,
  state: string | null,
): Promise<(AuthorizationRequest & { id: string }) | Redirect> {
  const { client_id, name, redirect_uri } = application;
  if ('error' in asked) return { location: answerUri(redirect_uri, state, authUrl(), asked) };
  const request = { client_id, name, redirect_uri, state, ...asked };
  return { ...request, id: await insertAuthorizationRequest(request) };
}

/** The question of a request that is kept already. Throws ApiError 400 when it is too old, or its application has changed since. */
async function askKept(id: string, visitor: Visitor): Promise<Page> {
  const asked = await getAuthorizationRequest(id);
  const application = await findApplication(asked.client_id);
  const { name, redirect_uri } = asked;
  if (application?.name !== name || application.redirect_uri !== redirect_uri) {
    throw applicationChanged();
  }
  return consentPage(id, asked, application, visitor);
}

/** The client, once its redirect URI is known good too: before, nobody is redirected (RFC 6749 section 4.1.2.1). Throws ApiError 400. */
async function findClient(parameters: Parameters): Promise<Application> {
  const client_id = atMostOne(parameters, 'client_id');
  const redirect_uri = atMostOne(parameters, 'redirect_uri');
  if (!client_id) throw invalidRequest('client_id is required');
  if (!redirect_uri) throw invalidRequest('redirect_uri is required');
  const application = await findApplication(client_id);
  if (!application) throw invalidRequest('client_id is not that of a registered application');
  if (application.redirect_uri !== redirect_uri) {
    throw invalidRequest(
      'redirect_uri must be exactly the one that the application has registered',
    );
  }
  return application;
}

function consentPage(
  id: string,
  { redirect_uri, scopes }: AuthorizationRequest,
  application: Application,
  visitor: Visitor,
): Page {
  const { host } = new URL(redirect_uri);
  const otherAccount = new URLSearchParams({ prompt: 'login', return_to: pageOf(id) });
  const abilities = [baseDescription, ...scopes.map(describe)];
  return {
    title: `Let ${application.name} use your account?`,
    isWayOut: true,
    content: html`<section>
      <p>
        <a href="${application.website}" rel="noreferrer">${application.name}</a>
        asks to act for you, <strong>${visitor.user.display_name}</strong>.
        <a href="${authUrl()}/account/sign-in?${otherAccount}">Not you? Use another account</a>
      </p>
      ${application.desc && html`<p class="soft clamp">${application.desc}</p>`}
      <h2>It will be able to</h2>
      <ul>
        ${abilities.map((ability) => html`<li>${ability}</li>`)}
      </ul>
      <p class="soft">
        You will be sent to ${host}. You can end this at any time under “Connected applications”.
      </p>
      <form method="post" action="${authUrl()}/oauth/authorize">
        ${csrfField(visitor.csrf)}
        <input type="hidden" name="request" value="${id}">
        <div class="buttons">
          <button name="decision" value="approve">Allow</button>
          <button name="decision" value="refuse" class="quiet">Do not allow</button>
        </div>
      </form>
    </section>`,
  };
}

/** The address at which a kept request is asked about. */
function pageOf(id: string): string {
  return `${authUrl()}/oauth/authorize?request_id=${id}`;
}

function describe(scope: Scope): string {
  return scopeDescriptions[scope];
}
