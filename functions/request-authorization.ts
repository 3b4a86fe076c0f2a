import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { ApiError, invalidRequest } from '../shared/errors.ts';
import type { Application } from '../shared/oauth/application.ts';
import { countPeople } from '../shared/oauth/application-grants.ts';
import { findApplication, isOwnerBlocked } from '../shared/oauth/application-repository.ts';
import {
  applicationChanged,
  findAuthorizationRequest,
  getAuthorizationRequest,
  insertAuthorizationRequest,
} from '../shared/oauth/authorization-repository.ts';
import {
  type Asked,
  type AuthorizationError,
  type AuthorizationRequest,
  answerUri,
  readAuthorizationRequest,
  stateOf,
} from '../shared/oauth/authorization-request.ts';
import { listGrants } from '../shared/oauth/grant-repository.ts';
import {
  backTo,
  blockedOwnerPage,
  consentPage,
  consentUrl,
  obstaclePage,
  type Reputation,
} from '../shared/pages/consent-page.ts';
import type { Page, Redirect } from '../shared/pages/html-response.ts';
import type { Visitor } from '../shared/pages/layout.ts';
import { page, signInFirst } from '../shared/pages/page.ts';
import { openRequest, sealRequest } from '../shared/pages/sealed-request.ts';
import { findUser } from '../shared/user/user-repository.ts';

export const request = v.object({});

type Parameters = Record<string, string[] | undefined>;

/**
 * The authorization endpoint (RFC 6749 section 3.1) asks the person who has signed in. Whoever has
 * not signs in first, and is sent to no client before; nor by itself, by a request that is at
 * fault, whoever has never let that client in (RFC 9700 section 4.11.2). Such a request leaves
 * nothing in the table: it goes along, and comes back as `sealed_request`. A request that a person
 * is asked about lies in the table, and is shown by its `request_id`.
 */
export const handler = page(request, async (_, { event, visitor }) => {
  const parameters: Parameters = event.multiValueQueryStringParameters ?? {};
  try {
    return await answer(parameters, event, visitor);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error;
    return refusal(parameters, error.message);
  }
});

async function answer(
  parameters: Parameters,
  event: APIGatewayProxyEvent,
  visitor: Visitor | undefined,
): Promise<Page | Redirect> {
  const sealed = atMostOne(parameters, 'sealed_request');
  const id = atMostOne(parameters, 'request_id');
  if (sealed === undefined && id === undefined) return begin(parameters, event, visitor);
  if (!visitor) return signInFirst(event);
  return sealed === undefined ? askAgain(id ?? '', visitor) : resume(sealed, visitor);
}

/** A client sends somebody, who is asked at once, or after signing in. */
async function begin(
  parameters: Parameters,
  event: APIGatewayProxyEvent,
  visitor: Visitor | undefined,
): Promise<Page | Redirect> {
  const application = await findClient(parameters);
  const sent = { asked: readAuthorizationRequest(parameters), state: stateOf(parameters) };
  if (visitor) return admit(application, sent, visitor, ask);
  const sealed_request = await sealRequest({ client_id: application.client_id, ...sent });
  return signInFirst(event, `${new URLSearchParams({ sealed_request })}`);
}

/** Somebody has signed in, and is sent on to the question. */
async function resume(sealed: string, visitor: Visitor): Promise<Page | Redirect> {
  const { client_id, ...sent } = await openRequest(sealed);
  const application = await findApplication(client_id);
  if (!application) throw applicationChanged();
  // Whoever loads the page again, or comes back to it, means the same request.
  return admit(application, sent, visitor, async (kept) => ({
    location: consentUrl(await insertAuthorizationRequest(kept)),
  }));
}

/**
 * The question of a request that is kept already. Throws ApiError 400 when it is too old, or its
 * application has changed since.
 */
async function askAgain(id: string, visitor: Visitor): Promise<Page> {
  const kept = await getAuthorizationRequest(id);
  const application = await findApplication(kept.client_id);
  const { name, redirect_uri } = kept;
  if (application?.name !== name || application.redirect_uri !== redirect_uri) {
    throw applicationChanged();
  }
  return consentPage(id, kept, application, await reputationOf(application, visitor), visitor);
}

type Next = (
  kept: AuthorizationRequest,
  application: Application,
  visitor: Visitor,
) => Promise<Page | Redirect>;

/** Goes on to `next`, unless the client is to be told a mistake. */
async function admit(
  application: Application,
  { asked, state }: { asked: Asked; state: string | null },
  visitor: Visitor,
  next: Next,
): Promise<Page | Redirect> {
  const { client_id, name, redirect_uri } = application;
  if (!('error' in asked)) {
    return next({ client_id, name, redirect_uri, state, ...asked }, application, visitor);
  }
  return sendBack(application, asked, answerUri(redirect_uri, state, authUrl(), asked), visitor);
}

async function ask(kept: AuthorizationRequest, application: Application, visitor: Visitor) {
  const [id, reputation] = await Promise.all([
    insertAuthorizationRequest(kept),
    reputationOf(application, visitor),
  ]);
  return consentPage(id, kept, application, reputation, visitor);
}

/**
 * The way back to the client with its mistake: at once for who has let it in before, else by a
 * link, as anybody can register any address.
 */
async function sendBack(
  application: Application,
  { error, error_description = error }: AuthorizationError,
  location: string,
  { user }: Visitor,
): Promise<Page | Redirect> {
  const [granted, isBlocked] = await Promise.all([
    listGrants(user.id, application.client_id),
    isOwnerBlocked(application),
  ]);
  if (isBlocked) return blockedOwnerPage(application);
  if (granted.length > 0) return { location };
  const account = { href: `${authUrl()}/account`, text: 'Go to your account' };
  return obstaclePage({
    title: `${application.name} was not connected`,
    application,
    what: 'It made a mistake in doing so. It has got nothing of yours',
    fault: error_description,
    ways: [backTo(application, location), account],
  });
}

async function reputationOf(
  { client_id, user_id }: Application,
  { user }: Visitor,
): Promise<Reputation> {
  const [developer, people, granted] = await Promise.all([
    findUser(user_id),
    countPeople(client_id),
    listGrants(user.id, client_id),
  ]);
  return { developer, people, granted };
}

function atMostOne(parameters: Parameters, name: string): string | undefined {
  const [value, ...more] = parameters[name] ?? [];
  if (more.length > 0) throw invalidRequest(`${name} must be sent only once`);
  return value;
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

/** What a person is told of a request that cannot be asked about: of its client's mistakes only the end. */
async function refusal(parameters: Parameters, message: string): Promise<Page> {
  const id = parameters.request_id?.[0];
  const isOurs = id !== undefined || parameters.sealed_request !== undefined;
  const client_id = isOurs
    ? (await findAuthorizationRequest(id ?? ''))?.client_id
    : parameters.client_id?.[0];
  const application = await findApplication(client_id ?? '');
  if (isOurs) return obstaclePage({ title: 'Please start again', application, what: message });
  return obstaclePage({
    title: `${application?.name ?? 'The application'} was not connected`,
    application,
    what: application
      ? 'It made a mistake in doing so, and for your safety you are not sent on. It has got nothing of yours'
      : 'You come from an application that is not registered here, or from a link that is broken. Nobody has got anything of yours',
    fault: message,
  });
}
