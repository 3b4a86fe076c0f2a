/** OAuth scopes: permissions that a user can grant to an application. */
export const scopes = ['review', 'vote', 'user'] as const;

export type Scope = (typeof scopes)[number];

/** Access to an endpoint: public, with any access token, or with a token of this scope. */
export type Access = 'public' | 'token' | Scope;

/** Things whose items a function may write: see `writers` in features/kinds.ts. */
export type Within =
  | 'votes'
  | 'reports'
  | 'reviews'
  | 'profile'
  | 'accounts'
  | 'grants'
  | 'hooks'
  | 'counters'
  | 'lists';

/** One endpoint. `operation` is also the name of its file under functions/. */
export interface Route {
  operation: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  access: Access;
  /**
   * Rights on the table: none, read public items, read everything, or read and write everything.
   * The job that writes the heartbeat and finds the oldest moderation case has `health`. The one
   * that sends webhooks has `webhooks`: it reads public items, and writes only webhooks. The one
   * that sends mails has `notices`: it also reads addresses, and writes what was mailed.
   */
  table: 'none' | 'public' | 'read' | 'write' | 'health' | 'webhooks' | 'notices';
  /** Narrows `write` to the items that these things are made of. */
  within?: Within;
  /** True if it asks music and book databases. It then also writes what they answer. */
  asks?: true;
  /** Secrets that it reads, see secrets.ts. */
  secrets?: readonly Secret[];
  /** True for a form that may have a file. */
  takesFile?: true;
  /** Set for endpoints outside the versioned API, such as pages. Their path starts at the stage. */
  base?: string;
  /** Set for pages and what tells of them: on AWS, those with the same rights share a function. */
  isPage?: true;
}

/**
 * SIGNING_KEYS make and verify tokens, SESSION_KEYS sign-in sessions. WEBHOOK_KEYS make the secrets
 * of webhooks. OIDC_CLIENT_SECRET identifies us at the identity provider.
 */
export type Secret = 'SIGNING_KEYS' | 'SESSION_KEYS' | 'WEBHOOK_KEYS' | 'OIDC_CLIENT_SECRET';

/** Stage of the REST API. With the version below it makes the base URL `…/ws/1`. */
export const stage = 'ws';

/** API version: the top resource under the stage. */
export const version = '/1';

// Fixed paths stand before templated paths, because the local gateway takes the first match.

/** Endpoints for programs, in functions/api. */
// biome-ignore format: one endpoint, one line
const endpoints: readonly Route[] = [
  { operation: 'list-languages', method: 'GET', path: '/review/languages', access: 'public', table: 'none' },
  { operation: 'list-reviews', method: 'GET', path: '/review', access: 'public', table: 'public' },
  { operation: 'create-review', method: 'POST', path: '/review', access: 'review', table: 'write', within: 'reviews' },
  { operation: 'get-revision', method: 'GET', path: '/review/{review_id}/revisions/{rev}', access: 'public', table: 'public' },
  { operation: 'list-revisions', method: 'GET', path: '/review/{review_id}/revisions', access: 'public', table: 'public' },
  { operation: 'report-review', method: 'POST', path: '/review/{review_id}/report', access: 'vote', table: 'write', within: 'reports' },
  { operation: 'get-vote', method: 'GET', path: '/review/{review_id}/vote', access: 'vote', table: 'read' },
  { operation: 'put-vote', method: 'PUT', path: '/review/{review_id}/vote', access: 'vote', table: 'write', within: 'votes' },
  { operation: 'delete-vote', method: 'DELETE', path: '/review/{review_id}/vote', access: 'vote', table: 'write', within: 'votes' },
  { operation: 'get-review', method: 'GET', path: '/review/{review_id}', access: 'public', table: 'public' },
  { operation: 'update-review', method: 'POST', path: '/review/{review_id}', access: 'review', table: 'write', within: 'reviews' },
  { operation: 'delete-review', method: 'DELETE', path: '/review/{review_id}', access: 'review', table: 'write', within: 'reviews' },
  { operation: 'list-changes', method: 'GET', path: '/changes', access: 'public', table: 'public' },
  { operation: 'get-site-feed', method: 'GET', path: '/reviews.atom', access: 'public', table: 'public' },
  { operation: 'list-entities', method: 'GET', path: '/entity', access: 'public', table: 'public' },
  { operation: 'create-entity', method: 'POST', path: '/entity', access: 'review', table: 'write', within: 'reviews' },
  { operation: 'get-entity', method: 'GET', path: '/entity/{entity_id}', access: 'public', table: 'public' },
  { operation: 'get-entity-feed', method: 'GET', path: '/entity/{entity_id}/reviews.atom', access: 'public', table: 'public' },
  { operation: 'batch-get-entities', method: 'GET', path: '/entities', access: 'public', table: 'public' },
  { operation: 'batch-get-reviews', method: 'GET', path: '/reviews', access: 'public', table: 'public' },
  { operation: 'list-my-applications', method: 'GET', path: '/user/me/applications', access: 'token', table: 'read', secrets: ['SIGNING_KEYS'] },
  { operation: 'list-my-reviews', method: 'GET', path: '/user/me/reviews', access: 'token', table: 'read' },
  { operation: 'list-my-tokens', method: 'GET', path: '/user/me/tokens', access: 'token', table: 'read', secrets: ['SIGNING_KEYS'] },
  { operation: 'export-me', method: 'GET', path: '/user/me/export', access: 'user', table: 'read' },
  { operation: 'get-me', method: 'GET', path: '/user/me', access: 'token', table: 'read' },
  { operation: 'update-me', method: 'POST', path: '/user/me', access: 'user', table: 'write', within: 'profile' },
  { operation: 'delete-me', method: 'DELETE', path: '/user/me', access: 'user', table: 'write', within: 'accounts' },
  { operation: 'list-users', method: 'GET', path: '/user', access: 'public', table: 'public' },
  { operation: 'get-user', method: 'GET', path: '/user/{user_id}', access: 'public', table: 'public' },
  { operation: 'get-user-feed', method: 'GET', path: '/user/{user_id}/reviews.atom', access: 'public', table: 'public' },
  { operation: 'create-token', method: 'POST', path: '/oauth/token', access: 'public', table: 'write', within: 'grants', secrets: ['SIGNING_KEYS'] },
  { operation: 'revoke-token', method: 'POST', path: '/oauth/revoke', access: 'public', table: 'write', within: 'grants', secrets: ['SIGNING_KEYS'] },
  { operation: 'get-openapi', method: 'GET', path: '/openapi.json', access: 'public', table: 'none' },

  { operation: 'get-sitemap', method: 'GET', path: '/sitemap.xml', access: 'public', table: 'public', base: '', isPage: true },
  { operation: 'get-oembed', method: 'GET', path: '/oembed', access: 'public', table: 'public', base: '', isPage: true },
  { operation: 'get-health', method: 'GET', path: '/health', access: 'public', table: 'public', base: '' },
  { operation: 'get-server-metadata', method: 'GET', path: '/.well-known/oauth-authorization-server', access: 'public', table: 'none', base: '', isPage: true },
];

/**
 * A page for people in a browser, in functions/pages. It lies outside the versioned API, anyone may
 * open it, and it reads the session unless `secrets` says otherwise.
 */
type Page = Pick<
  Route,
  'operation' | 'method' | 'path' | 'table' | 'within' | 'asks' | 'secrets' | 'takesFile'
>;

// biome-ignore format: one page, one line
const pages: readonly Page[] = [
  { operation: 'show-home', method: 'GET', path: '/', table: 'public' },
  { operation: 'show-review-form', method: 'GET', path: '/review/new', table: 'read', asks: true },
  { operation: 'publish-review', method: 'POST', path: '/review/new', table: 'write', within: 'reviews' },
  { operation: 'show-reviews', method: 'GET', path: '/reviews', table: 'public' },
  { operation: 'show-things', method: 'GET', path: '/things', table: 'public' },
  { operation: 'find-entity', method: 'GET', path: '/find', table: 'public', asks: true },
  { operation: 'show-review', method: 'GET', path: '/review/{review_id}', table: 'public' },
  { operation: 'show-revisions', method: 'GET', path: '/review/{review_id}/revisions', table: 'public' },
  { operation: 'show-review-editor', method: 'GET', path: '/review/{review_id}/edit', table: 'read' },
  { operation: 'save-review', method: 'POST', path: '/review/{review_id}/edit', table: 'write', within: 'reviews' },
  { operation: 'show-review-deletion', method: 'GET', path: '/review/{review_id}/delete', table: 'read' },
  { operation: 'confirm-review-deletion', method: 'POST', path: '/review/{review_id}/delete', table: 'write', within: 'reviews' },
  { operation: 'show-report', method: 'GET', path: '/review/{review_id}/report', table: 'read' },
  { operation: 'send-report', method: 'POST', path: '/review/{review_id}/report', table: 'write', within: 'reports' },
  { operation: 'show-vote', method: 'GET', path: '/review/{review_id}/vote', table: 'read' },
  { operation: 'send-vote', method: 'POST', path: '/review/{review_id}/vote', table: 'write', within: 'votes' },
  { operation: 'show-new-entity', method: 'GET', path: '/entity/new', table: 'read' },
  { operation: 'add-entity', method: 'POST', path: '/entity/new', table: 'write' },
  { operation: 'show-naming', method: 'GET', path: '/entity/{entity_id}/name', table: 'read', asks: true },
  { operation: 'save-naming', method: 'POST', path: '/entity/{entity_id}/name', table: 'write' },
  { operation: 'show-entity', method: 'GET', path: '/entity/{entity_id}', table: 'public' },
  { operation: 'show-entity-embed', method: 'GET', path: '/entity/{entity_id}/embed', table: 'public', secrets: [] },
  { operation: 'show-user', method: 'GET', path: '/user/{user_id}', table: 'public' },
  { operation: 'show-docs', method: 'GET', path: '/docs', table: 'public' },
  { operation: 'show-reference', method: 'GET', path: '/docs/api', table: 'public' },
  { operation: 'show-endpoints', method: 'GET', path: '/docs/api/{group}', table: 'public' },
  { operation: 'show-guide', method: 'GET', path: '/docs/{guide}', table: 'public' },
  { operation: 'show-help', method: 'GET', path: '/help', table: 'public' },
  { operation: 'show-site-page', method: 'GET', path: '/pages/{slug}', table: 'public' },
  { operation: 'show-logo', method: 'GET', path: '/logo', table: 'none', secrets: [] },
  { operation: 'request-authorization', method: 'GET', path: '/oauth/authorize', table: 'write', within: 'grants' },
  { operation: 'answer-authorization', method: 'POST', path: '/oauth/authorize', table: 'write', within: 'grants', secrets: ['SESSION_KEYS', 'SIGNING_KEYS'] },
  { operation: 'sign-in', method: 'GET', path: '/account/sign-in', table: 'none', secrets: ['SESSION_KEYS', 'OIDC_CLIENT_SECRET'] },
  { operation: 'finish-sign-in', method: 'GET', path: '/account/callback', table: 'write', within: 'accounts', secrets: ['SESSION_KEYS', 'OIDC_CLIENT_SECRET'] },
  { operation: 'show-sign-out', method: 'GET', path: '/account/sign-out', table: 'read' },
  { operation: 'sign-out', method: 'POST', path: '/account/sign-out', table: 'write' },
  { operation: 'show-account-deletion', method: 'GET', path: '/account/delete', table: 'read' },
  { operation: 'delete-account', method: 'POST', path: '/account/delete', table: 'write' },
  { operation: 'show-move', method: 'GET', path: '/account/address', table: 'read' },
  { operation: 'begin-move', method: 'POST', path: '/account/address', table: 'read' },
  { operation: 'show-move-undo', method: 'GET', path: '/account/address/{move}', table: 'public' },
  { operation: 'undo-move', method: 'POST', path: '/account/address/{move}', table: 'write' },
  { operation: 'show-applications', method: 'GET', path: '/account/applications', table: 'read' },
  { operation: 'register-application', method: 'POST', path: '/account/applications', table: 'write' },
  { operation: 'rotate-secret', method: 'POST', path: '/account/applications/{client_id}/secret', table: 'write' },
  { operation: 'revoke-application', method: 'POST', path: '/account/applications/{client_id}/revoke', table: 'write' },
  { operation: 'delete-application', method: 'POST', path: '/account/applications/{client_id}/delete', table: 'write' },
  { operation: 'show-application', method: 'GET', path: '/account/applications/{client_id}', table: 'read', secrets: ['SESSION_KEYS', 'SIGNING_KEYS'] },
  { operation: 'update-application', method: 'POST', path: '/account/applications/{client_id}', table: 'write' },
  { operation: 'register-webhook', method: 'POST', path: '/account/applications/{client_id}/webhooks', table: 'write' },
  { operation: 'show-webhook', method: 'GET', path: '/account/applications/{client_id}/webhooks/{webhook_id}', table: 'read', secrets: ['SESSION_KEYS', 'WEBHOOK_KEYS'] },
  { operation: 'update-webhook', method: 'POST', path: '/account/applications/{client_id}/webhooks/{webhook_id}', table: 'write', within: 'hooks', secrets: ['SESSION_KEYS', 'WEBHOOK_KEYS'] },
  { operation: 'show-connections', method: 'GET', path: '/account/connections', table: 'read' },
  { operation: 'revoke-connection', method: 'POST', path: '/account/connections/{client_id}/revoke', table: 'write' },
  { operation: 'show-tokens', method: 'GET', path: '/account/tokens', table: 'read' },
  { operation: 'create-personal-token', method: 'POST', path: '/account/tokens', table: 'write', within: 'grants', secrets: ['SESSION_KEYS', 'SIGNING_KEYS'] },
  { operation: 'revoke-personal-token', method: 'POST', path: '/account/tokens/{token_id}/revoke', table: 'write' },
  { operation: 'download-data', method: 'GET', path: '/account/data', table: 'read' },
  { operation: 'show-files', method: 'GET', path: '/account/files', table: 'read' },
  { operation: 'send-file', method: 'POST', path: '/account/files', table: 'write', takesFile: true },
  { operation: 'show-file', method: 'GET', path: '/account/files/{slot}', table: 'read' },
  { operation: 'decide-file', method: 'POST', path: '/account/files/{slot}', table: 'write' },
  { operation: 'show-cases', method: 'GET', path: '/account/moderation', table: 'read' },
  { operation: 'show-proposals', method: 'GET', path: '/account/moderation/names/{entity_id}', table: 'read' },
  { operation: 'decide-proposal', method: 'POST', path: '/account/moderation/names/{entity_id}', table: 'write' },
  { operation: 'show-decisions', method: 'GET', path: '/account/moderation/log', table: 'read' },
  { operation: 'undo-correction', method: 'POST', path: '/account/moderation/log', table: 'write' },
  { operation: 'show-case', method: 'GET', path: '/account/moderation/reviews/{review_id}', table: 'read' },
  { operation: 'decide-review', method: 'POST', path: '/account/moderation/reviews/{review_id}', table: 'write' },
  { operation: 'show-author', method: 'GET', path: '/account/moderation/users/{user_id}', table: 'read' },
  { operation: 'decide-user', method: 'POST', path: '/account/moderation/users/{user_id}', table: 'write' },
  { operation: 'show-thing', method: 'GET', path: '/account/moderation/things/{entity_id}', table: 'read' },
  { operation: 'decide-thing', method: 'POST', path: '/account/moderation/things/{entity_id}', table: 'write' },
  { operation: 'show-my-names', method: 'GET', path: '/account/names', table: 'read' },
  { operation: 'show-my-reviews', method: 'GET', path: '/account/reviews', table: 'read' },
  { operation: 'show-my-votes', method: 'GET', path: '/account/votes', table: 'read' },
  { operation: 'appeal-decision', method: 'POST', path: '/account/reviews/{review_id}/appeal', table: 'write' },
  { operation: 'show-invitations', method: 'GET', path: '/account/moderation/invitations', table: 'read' },
  { operation: 'create-invitation', method: 'POST', path: '/account/moderation/invitations', table: 'write' },
  { operation: 'revoke-invitation', method: 'POST', path: '/account/moderation/invitations/{invitation_id}/revoke', table: 'write' },
  { operation: 'show-join', method: 'GET', path: '/join/{invitation}', table: 'read' },
  { operation: 'show-mail-stop', method: 'GET', path: '/mails/{token}', table: 'public' },
  { operation: 'stop-mails', method: 'POST', path: '/mails/{token}', table: 'write' },
  { operation: 'show-account', method: 'GET', path: '/account', table: 'write' },
  { operation: 'update-account', method: 'POST', path: '/account', table: 'write' },
];

// Bundles that do not use the table leave it out.
export const routes: readonly Route[] = /* @__PURE__ */ allRoutes();

function allRoutes(): Route[] {
  const toRoute = (page: Page): Route => ({
    access: 'public',
    base: '',
    secrets: ['SESSION_KEYS'],
    isPage: true,
    ...page,
  });
  return [...endpoints, ...pages.map(toRoute)];
}
