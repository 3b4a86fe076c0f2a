import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { ApiError, invalidRequest } from '../../shared/base/errors.ts';
import { type Application, isPublicClient } from '../../shared/core/oauth/application.ts';
import {
  countPeople,
  findApplication,
  isOwnerBlocked,
} from '../../shared/core/oauth/application-repository.ts';
import {
  applicationChanged,
  findAuthorizationRequest,
  getAuthorizationRequest,
  insertAuthorizationRequest,
} from '../../shared/core/oauth/authorization-repository.ts';
import {
  type AuthorizationError,
  type AuthorizationRequest,
  answerUri,
  type RequestedGrant,
  readAuthorizationRequest,
  stateOf,
} from '../../shared/core/oauth/authorization-request.ts';
import { listGrants } from '../../shared/core/oauth/grant-repository.ts';
import { findUser } from '../../shared/core/user/user-repository.ts';
import {
  backTo,
  blockedOwnerPage,
  consentPage,
  consentUrl,
  obstaclePage,
} from '../../shared/pages/application/consent-page.ts';
import { page, signInFirst } from '../../shared/pages/form/page.ts';
import type { Redirect } from '../../shared/pages/frame/html-response.ts';
import type { Page, Visitor } from '../../shared/pages/frame/layout.ts';
import { toAccount } from '../../shared/pages/frame/next-steps.ts';
import { openRequest, sealRequest } from '../../shared/pages/session/sealed.ts';

type Parameters = Record<string, string[] | undefined>;

/**
 * The authorization endpoint (RFC 6749 section 3.1). Asks a person for consent after sign-in. Until
 * then nothing is stored, and the request travels as `sealed_request`. Later it has a `request_id`.
 */
export const handler = page(v.object({}), async (_, { event, visitor }) => {
  const parameters: Parameters = event.multiValueQueryStringParameters ?? {};
  try {
    return await answer(parameters, event, visitor);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error;
    return refusal(parameters, error.message);
  }
});

async function answer(parameters: Parameters, event: APIGatewayProxyEvent, visitor?: Visitor) {
  const sealed = atMostOne(parameters, 'sealed_request');
  const id = atMostOne(parameters, 'request_id');
  if (sealed === undefined && id === undefined) return begin(parameters, event, visitor);
  if (!visitor) return signInFirst(event);
  return sealed === undefined ? askAgain(id ?? '', visitor) : resume(sealed, visitor);
}

async function begin(
  parameters: Parameters,
  event: APIGatewayProxyEvent,
  visitor?: Visitor,
): Promise<Page | Redirect> {
  const application = await findClient(parameters);
  const asked = readAuthorizationRequest(parameters, isPublicClient(application));
  const parts = { asked, state: stateOf(parameters) };
  if (visitor) {
    return admit(application, parts, visitor, (request) =>
      ask(insertAuthorizationRequest(request), request, application, visitor),
    );
  }
  const sealed_request = await sealRequest({ client_id: application.client_id, ...parts });
  return signInFirst(event, `${new URLSearchParams({ sealed_request })}`);
}

/** Continues after sign-in: stores the request and redirects to the question. */
async function resume(sealed: string, visitor: Visitor) {
  const { client_id, ...parts } = await openRequest(sealed);
  const application = await findApplication(client_id);
  if (!application) throw applicationChanged();
  // The redirect makes reloading or going back show the same request.
  return admit(application, parts, visitor, async (request) => ({
    location: consentUrl(await insertAuthorizationRequest(request)),
  }));
}

/** Asks about a stored request. Throws ApiError 400 if it expired or its application changed. */
async function askAgain(id: string, visitor: Visitor) {
  const request = await getAuthorizationRequest(id);
  const application = await findApplication(request.client_id);
  const { name, redirect_uri } = request;
  if (application?.name !== name || application.redirect_uri !== redirect_uri) {
    throw applicationChanged();
  }
  return ask(id, request, application, visitor);
}

/** Continues with `next`, or returns the client's error to it. */
async function admit(
  application: Application,
  { asked, state }: { asked: RequestedGrant; state: string | null },
  visitor: Visitor,
  next: (request: AuthorizationRequest) => Promise<Page | Redirect>,
): Promise<Page | Redirect> {
  const { client_id, name, redirect_uri } = application;
  if (!('error' in asked)) return next({ client_id, name, redirect_uri, state, ...asked });
  return sendBack(application, asked, answerUri(redirect_uri, state, authUrl(), asked), visitor);
}

/** Asks about a request that is stored already, or meanwhile. */
async function ask(
  storage: string | Promise<string>,
  request: AuthorizationRequest,
  application: Application,
  visitor: Visitor,
) {
  const { client_id, user_id } = application;
  const [id, developer, people, granted] = await Promise.all([
    storage,
    findUser(user_id),
    countPeople(client_id),
    listGrants(visitor.user.id, client_id),
  ]);
  return consentPage(id, request, application, { developer, people, granted }, visitor);
}

/**
 * Redirects only to a client that the person has connected before: anybody can register any address
 * (RFC 9700 section 4.11.2).
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
  return obstaclePage({
    title: `${application.name} was not connected`,
    application,
    what: 'Its request contains an error. It did not get access to your account',
    fault: error_description,
    ways: [backTo(application, location), toAccount()],
  });
}

function atMostOne(parameters: Parameters, name: string) {
  const [value, ...more] = parameters[name] ?? [];
  if (more.length > 0) throw invalidRequest(`${name} must be sent only once`);
  return value;
}

/** Checks the client and its redirect URI before any redirect (RFC 6749 section 4.1.2.1). */
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

async function refusal(parameters: Parameters, message: string) {
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
      ? 'Its request contains an error. For your safety, you were not sent back to it. It did not get access to your account'
      : 'The link that you followed is broken, or comes from an application that is not registered here. Nobody got access to your account',
    fault: message,
  });
}
