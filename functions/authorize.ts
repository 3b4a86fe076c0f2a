import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { invalidRequest } from '../shared/errors.ts';
import { csrfField } from '../shared/http/layout.ts';
import { type Page, page, signInFirst, type Visit } from '../shared/http/page.ts';
import type { Application } from '../shared/oauth/application.ts';
import { findApplication } from '../shared/oauth/application-repository.ts';
import {
  applicationChanged,
  getAuthorizationRequest,
  insertAuthorizationRequest,
} from '../shared/oauth/authorization-repository.ts';
import {
  type AuthorizationRequest,
  answerUri,
  readAuthorizationRequest,
} from '../shared/oauth/authorization-request.ts';
import { scopeDescriptions } from '../shared/oauth/scopes.ts';
import type { Scope } from '../shared/routes.ts';

export const request = v.object({});

type Parameters = Record<string, string[] | undefined>;
type Visitor = NonNullable<Visit['visitor']>;

/**
 * The authorization endpoint (spec section 5): keeps the request in the table, lets the person sign in, and asks. After the sign-in it is
 * called again with nothing but `request`, the id under which it is kept.
 */
export const handler = page(request, async (_, visit) => {
  const { event, visitor } = visit;
  const parameters: Parameters = event.multiValueQueryStringParameters ?? {};
  const [kept, ...more] = parameters.request ?? [];
  if (more.length > 0) throw invalidRequest('request must be sent only once');
  if (kept !== undefined && visitor) return keptRequest(kept, visitor);
  if (kept !== undefined) return signInFirst(event);

  const application = await findClient(parameters);
  const { client_id, name, redirect_uri } = application;
  const asked = readAuthorizationRequest(parameters, { client_id, name, redirect_uri });
  if ('error' in asked) {
    const state = parameters.state?.length === 1 ? (parameters.state[0] ?? null) : null;
    return { location: answerUri(redirect_uri, state, authUrl(), asked) };
  }
  const id = await insertAuthorizationRequest(asked);
  return visitor
    ? consentPage(id, asked, application, visitor)
    : signInFirst(event, `request=${id}`);
});

/** Asks again what is kept already. Throws ApiError 400 when that is no longer possible. */
async function keptRequest(id: string, visitor: Visitor): Promise<Page> {
  const asked = await getAuthorizationRequest(id);
  const application = await findApplication(asked.client_id);
  const { name, redirect_uri } = asked;
  if (application?.name !== name || application.redirect_uri !== redirect_uri) {
    throw applicationChanged();
  }
  return consentPage(id, asked, application, visitor);
}

/** Before client and redirect URI are known good nobody is redirected (RFC 6749 section 4.1.2.1). Throws ApiError 400. */
async function findClient({ client_id, redirect_uri }: Parameters): Promise<Application> {
  if (client_id?.length !== 1) throw invalidRequest('client_id must be sent once');
  if (redirect_uri?.length !== 1) throw invalidRequest('redirect_uri must be sent once');
  const application = await findApplication(client_id[0] ?? '');
  if (!application) throw invalidRequest('client_id is not that of a registered application');
  if (application.redirect_uri !== redirect_uri[0]) {
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
  const abilities = [
    'Read your profile and your reviews, and name your applications',
    ...scopes.map(describe),
  ];
  return {
    title: `Let ${application.name} use your account?`,
    isWayOut: true,
    content: html`<section>
      <p>
        <a href="${application.website}" rel="noreferrer">${application.name}</a>
        asks to act for you, <strong>${visitor.user.display_name}</strong>.
      </p>
      ${application.desc && html`<p class="soft">${application.desc}</p>`}
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

function describe(scope: Scope): string {
  return scopeDescriptions[scope];
}
