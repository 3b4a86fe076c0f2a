import { licenses } from '../../shared/base/licenses.ts';
import { version } from '../../shared/base/routes.ts';
import { type Database, databaseTypes } from '../../shared/core/entity/databases.ts';
import { groupOf } from '../../shared/core/entity/entity-type.ts';
import { pageOf } from '../../shared/core/entity/metadata-provider.ts';
import { longestQueryString } from '../../shared/core/http/bulk.ts';
import { largestForm } from '../../shared/core/http/form.ts';
import { keptSeconds, maxLength } from '../../shared/core/http/idempotency.ts';
import { largestJson } from '../../shared/core/http/json-body.ts';
import { webhookSlots } from '../../shared/core/keys.ts';
import { mostApplications } from '../../shared/core/oauth/application-repository.ts';
import { codeLifetime } from '../../shared/core/oauth/authorization-repository.ts';
import { AuthorizationError, mostState } from '../../shared/core/oauth/authorization-request.ts';
import { accessTokenLifetime } from '../../shared/core/oauth/grant.ts';
import {
  mostConnections,
  mostGrants,
  repeatMilliseconds,
} from '../../shared/core/oauth/grant-repository.ts';
import {
  lifetimes,
  mostPersonalTokens,
} from '../../shared/core/oauth/personal-token-repository.ts';
import { baseAbility, scopeAbilities } from '../../shared/core/oauth/scopes.ts';
import { mostLookedUp } from '../../shared/core/review/page-size.ts';
import { mostRevisionBytes } from '../../shared/core/review/revision-repository.ts';
import { reasons } from '../../shared/core/review/verdict.ts';
import { renamesPerDay, writingsPerDay } from '../../shared/core/user/daily-limit.ts';
import { blockedType, userTypes } from '../../shared/core/user/user-type.ts';
import { cursorLifetime, mostPageBytes } from '../../shared/features/changes/public.ts';
import type { OpenApiDocument } from '../../shared/features/docs/public.ts';
import { newest } from '../../shared/features/feed/public.ts';
import { mostFound, mostLatest, mostWords, prior } from '../../shared/features/things/public.ts';
import {
  largestBody,
  longestFailing,
  longestRequest,
  longestRetryAfter,
  longestTesting,
  mostAttempts,
  replayPause,
} from '../../shared/features/webhooks/public.ts';
import { type Endpoint, type ErrorCode, errors, errorsOf } from '../openapi/responses.ts';

const pages = { musicdb: 'musicbrainz.org/{type}/{id}', bookdb: 'bookbrainz.org/{type}/{id}' };

const remedies: Record<ErrorCode, string> = {
  invalid_request: 'Correct the parameter or field that the description names.',
  invalid_grant:
    'Ask the person for access again. Check that `redirect_uri` is the registered one.',
  invalid_scope: 'Ask for existing scopes only, and at a refresh for no more than was granted.',
  unsupported_grant_type: 'Use one of these two.',
  not_authorized: 'Send an access token.',
  invalid_token: 'Refresh the access token, or make a new personal access token.',
  invalid_client: 'Check the client id and the client secret.',
  insufficient_scope: 'Ask the person for this scope, or make a personal access token with it.',
  access_denied: 'Show the description to the person. Do not repeat the request.',
  limit_exceeded:
    'Wait as many seconds as `Retry-After` says. Without it, the account cannot do this at all.',
  not_found: 'Check the path and the id. The thing may have been deleted or hidden.',
  method_not_allowed: 'Use one of the methods that the header `Allow` names.',
  gone: 'Delete your copy, and start again from a dump or from the lists.',
  precondition_failed: 'Read the review again, and show the person both versions.',
  payload_too_large: 'Send less.',
  unsupported_media_type: 'Send JSON in UTF-8 with this header. The OAuth endpoints take a form.',
  idempotency_mismatch: 'Use a new key for a new request.',
  too_many_requests: 'Wait as many seconds as `Retry-After` says, then repeat the request.',
  server_error: 'Report the `request_id` to the operator of the service.',
  not_implemented: 'Ask the oEmbed endpoint for `format=json`.',
  service_unavailable:
    'Wait as many seconds as `Retry-After` says, then repeat the request. Without it, ask for less.',
};

/** Returns the numbers and tables from the code that guides name as `{{name}}`. */
export function factsOf({ info, paths, servers }: OpenApiDocument, endpoints: readonly Endpoint[]) {
  const base_url = `${servers[0]?.url}`;
  const review = paths['/review'].post.requestBody.content['application/json'].schema.properties;
  const report =
    paths['/review/{review_id}/report'].post.requestBody.content['application/json'].schema;
  const profile = paths['/user/me'].post.requestBody.content['application/json'].schema.properties;
  return {
    base_url,
    release: info.version,
    auth_url: base_url.slice(0, -version.length),
    text_min: review.text.minLength,
    text_max: review.text.maxLength.toLocaleString('en'),
    rating_min: review.rating.minimum,
    rating_max: review.rating.maximum,
    reason_length: report.properties.reason.maxLength,
    name_length: profile.display_name.maxLength,
    email_length: profile.email.maxLength,
    list_limit: maximumOf(paths['/review'].get.parameters, 'limit'),
    changes_limit: maximumOf(paths['/changes'].get.parameters, 'limit'),
    bulk_reviews: mostLookedUp,
    bulk_entities: mostLookedUp,
    query_string: longestQueryString.toLocaleString('en'),
    feed_reviews: newest,
    revisions_kb: mostRevisionBytes / 1024,
    changes_kb: mostPageBytes / 1024,
    writings_per_day: writingsPerDay,
    renames_per_day: renamesPerDay,
    cursor_days: cursorLifetime / 86_400_000,
    most_webhooks: webhookSlots.length,
    message_kb: largestBody / 1024,
    answer_seconds: longestRequest / 1000,
    retry_hours: longestRetryAfter / 3600,
    testing_minutes: longestTesting / 60_000,
    failing_days: longestFailing / 86_400_000,
    most_attempts: mostAttempts,
    replay_minutes: replayPause / 60_000,
    body_kb: largestJson / 1024,
    form_kb: largestForm / 1024,
    key_length: maxLength,
    idempotency_hours: keptSeconds / 3600,
    most_tokens: mostPersonalTokens,
    token_days: `${lifetimes.slice(0, -1).join(', ')} or ${lifetimes.at(-1)}`,
    most_applications: mostApplications,
    most_grants: mostGrants,
    most_connections: mostConnections,
    most_found: mostFound,
    most_words: mostWords,
    most_latest: mostLatest,
    prior_ratings: prior.ratings,
    prior_sum: prior.ratings * prior.stars,
    code_seconds: codeLifetime,
    access_token_seconds: accessTokenLifetime.toLocaleString('en'),
    repeat_seconds: repeatMilliseconds / 1000,
    state_kb: mostState / 1024,
    authorization_errors: codes(AuthorizationError.entries.error.options),
    reasons: codes(reasons),
    scopes: table(
      ['Scope', 'Question to the person'],
      Object.entries({ '(none)': [baseAbility], ...scopeAbilities }).flatMap(([scope, abilities]) =>
        abilities.map(({ can, detail }) => [`\`${scope}\``, `**${can}.** ${detail}.`]),
      ),
    ),
    licenses: table(
      ['`license_choice`', 'Licence'],
      licenses.map(({ id, full_name, info_url }) => [`\`${id}\``, `[${full_name}](${info_url})`]),
    ),
    entity_types: table(
      ['`entity_type`', 'Page of the entity'],
      databaseTypes.map((type) => [
        `\`${type}\``,
        `\`${pageOf({ page: pages[groupOf(type) as Database] }, type, 'ID')}\``,
      ]),
    ),
    user_types: table(
      ['User type', 'Karma', 'Votes a day', 'Reports a day'],
      [...userTypes, blockedType].map((type, i) => {
        const karma = type === blockedType ? 'any' : range(type.from, userTypes[i + 1]?.from);
        return [`\`${type.label}\``, karma, `${type.votes_per_day}`, `${type.votes_per_day}`];
      }),
    ),
    errors: (Object.keys(remedies) as ErrorCode[])
      .map((code) => explain(code, endpoints))
      .join('\n\n'),
  };
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const codes = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

/** Describes a range of karma. `to` is exclusive. */
function range(from: number, to?: number): string {
  const signed = (number: number) => number.toLocaleString('en').replace('-', '−');
  if (to === undefined) return `${signed(from)} or more`;
  return from === Number.MIN_SAFE_INTEGER
    ? `below ${signed(to)}`
    : `${signed(from)} to ${signed(to - 1)}`;
}

function maximumOf(parameters: readonly { name: string; schema: object }[], name: string): number {
  const { schema = {} } = parameters.find((each) => each.name === name) ?? {};
  return (schema as { maximum: number }).maximum;
}

/** More endpoints than these stand in a list, one on each line. */
const mostInLine = 3;

/** Returns the section on an error, with the endpoints that return it by condition. */
function explain(code: ErrorCode, endpoints: readonly Endpoint[]): string {
  const [status, example] = errors[code];
  const answers = endpoints.flatMap((endpoint) =>
    errorsOf(endpoint)
      .filter(([each]) => each === code)
      .map(([, when]) => ({ when, place: `\`${endpoint.route.method} ${endpoint.route.path}\`` })),
  );
  const byOccasion = [...Map.groupBy(answers, ({ when }) => when)];
  const isEverywhere = answers.length === endpoints.length;
  const others = byOccasion.length > 1 ? 'all other endpoints' : 'all endpoints';
  const occasions = byOccasion
    .toSorted(([, a], [, b]) => a.length - b.length)
    .map(([when, same]) => {
      const isMost = isEverywhere && same.length > answers.length / 2;
      const condition = `- ${when.replace(/\.$/, '')}:`;
      if (isMost) return `${condition} ${others}.`;
      const places = same.map(({ place }) => place);
      if (places.length <= mostInLine) return `${condition} ${places.join(', ')}.`;
      return [condition, ...places.map((place) => `  - ${place}`)].join('\n');
    });
  const head = `### \`${code}\`\n\n${status}: “${example}”`;
  return [head, remedies[code], occasions.join('\n')].join('\n\n');
}
