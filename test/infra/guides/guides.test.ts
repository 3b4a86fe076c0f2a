import { globSync, readFileSync } from 'node:fs';
import { gatewayResponses } from '../../../infra/gateway-responses.ts';
import { renderGuides } from '../../../infra/guides/render.ts';
import { guides } from '../../../shared/features/docs/guides.ts';
import { rowsOf } from '../../helpers/rows.ts';

/** Returns the text of a guide without markup. */
function textOf(slug: string) {
  const { html = '' } = guides.find((guide) => guide.slug === slug) ?? {};
  return html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

test('the guide of webhooks names each type of message once', () => {
  const { webhooks } = JSON.parse(readFileSync('shared/features/docs/openapi.json', 'utf8'));
  const guide = readFileSync('infra/guides/webhooks.md', 'utf8');
  const named = [...guide.matchAll(/^\| `(\w+\.\w+)` \|/gm)].map(([, type]) => type);
  expect(named.sort()).toEqual(Object.keys(webhooks).sort());
});

// Numbers as decided, not as the code has them.
test.each(
  rowsOf({
    limits: [
      'Blocked any 0 0',
      'Noob below 50 10 10',
      'Apprentice 50 to 999 50 50',
      'Sorcerer 1,000 or more 200 200',
      'Text 25 to 5,000 characters',
      'Rating 1 to 5',
      'statement of an appeal 500 characters',
      'limit 0 to 50',
      'limit of GET /changes 1 to 100',
      'Ids in GET /reviews/ 25',
      'Ids in GET /entities/ 25',
      'Publications of a person in a day, drafts included 200',
      'Edits of a person in a day 200',
      'Revisions in an answer 256 KB',
      'Page of GET /changes 512 KB',
      'Query string of these two 4,096 characters',
      'Reviews in an Atom feed 50',
      'change feed 30 days',
      'JSON body 128 KB',
      'Form 64 KB',
      '255 characters, kept for 24 hours',
      'display_name 1 to 64 characters',
      'email 254 characters',
      'Personal access tokens of a person 20',
      'Lifetime of a personal access token 7, 30, 90 or 365 days',
      'Applications of a person 25',
      'Grants of a person to one application 10',
      'Authorization code 60 seconds, once',
      'Access token 3,600 seconds',
      'Repetition of a refresh 30 seconds',
      'state 2 KB',
    ],
    oauth: [
      'The code is valid for 60 seconds',
      'expires after 3,600 seconds',
      'within 30 seconds',
      'review Write in your name.',
      'vote Vote in your name.',
      'user Delete your account.',
    ],
    publishing: [
      'CC BY-SA 3.0 Creative Commons',
      'CC BY-NC-SA 3.0 Creative Commons',
      'CC BY 4.0 Creative Commons',
      'CC BY-SA 4.0 Creative Commons',
      'CC BY-NC-SA 4.0 Creative Commons',
      'CC0 1.0 Creative Commons',
    ],
    entities: [
      'event musicbrainz.org/event/ID',
      'place musicbrainz.org/place/ID',
      'release_group musicbrainz.org/release-group/ID',
      'work musicbrainz.org/work/ID',
      'artist musicbrainz.org/artist/ID',
      'label musicbrainz.org/label/ID',
      'recording musicbrainz.org/recording/ID',
      'bk_edition_group bookbrainz.org/edition-group/ID',
      'bk_literary_work bookbrainz.org/work/ID',
      'bk_author bookbrainz.org/author/ID',
      'bk_series bookbrainz.org/series/ID',
    ],
    moderation: ['spam , abuse , off_topic , copyright , other'],
  }),
)('%s says: %s', (slug, fact) => {
  expect(textOf(slug)).toContain(fact);
});

/** Every error code by its status, as decided. */
const codes = {
  400: ['invalid_request', 'invalid_grant', 'invalid_scope', 'unsupported_grant_type'],
  401: ['not_authorized', 'invalid_token', 'invalid_client'],
  403: ['insufficient_scope', 'access_denied', 'limit_exceeded'],
  404: ['not_found'],
  405: ['method_not_allowed'],
  410: ['gone'],
  412: ['precondition_failed'],
  413: ['payload_too_large'],
  415: ['unsupported_media_type'],
  422: ['idempotency_mismatch'],
  429: ['too_many_requests'],
  500: ['server_error'],
  501: ['not_implemented'],
  503: ['service_unavailable'],
};

test('errors explains every code with its status, and says what to do', () => {
  const { html = '' } = guides.find(({ slug }) => slug === 'errors') ?? {};
  const section = /<h3 id="(\w+)">.*?<\/h3>\n<p>(\d+): “.*?”<\/p>\n<p>(.{9,})</g;
  expect([...html.matchAll(section)].map(([, code, status]) => `${status} ${code}`)).toEqual(
    Object.entries(codes).flatMap(([status, names]) => names.map((name) => `${status} ${name}`)),
  );
});

test('errors includes every code that the code or the gateway returns', () => {
  const sources = globSync('{functions,shared}/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  const thrown = sources.flatMap((text) =>
    [...text.matchAll(/new ApiError\(\s*\d+,\s*'(\w+)'/g)].map(([, code]) => code),
  );
  const ofGateway = gatewayResponses.map(({ body }) => JSON.parse(body).error);
  const known = Object.values(codes).flat();
  // Only the eraser catches this code.
  const left = [...thrown, ...ofGateway].filter((code) => code !== 'conflict');
  expect(left.filter((code) => !known.includes(code))).toEqual([]);
  expect(left.length).toBeGreaterThan(30);
});

test('escapes HTML in a guide or a fact, and refuses an unknown fact', () => {
  const errors = '<script>alert(1)</script> [x](javascript:alert)';
  const facts = new Proxy({ errors }, { has: () => true });
  const { html } = renderGuides(facts).guides.find(({ slug }) => slug === 'errors') ?? {};
  expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt; [x](javascript:alert)');
  expect(() => renderGuides({})).toThrow('quickstart.md: there is no fact {{base_url}}');
});
