import { globSync, readFileSync } from 'node:fs';
import { renderGuides } from '../../../infra/guides/render.ts';
import { guides } from '../../../shared/docs/guides.ts';
import { gatewayResponses } from '../../../shared/http/gateway-responses.ts';

/** Returns the text of a guide without markup. */
function textOf(slug: string): string {
  const { html = '' } = guides.find((guide) => guide.slug === slug) ?? {};
  return html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

test('the guide of webhooks names each type of message once', () => {
  const { webhooks }: { webhooks: object } = JSON.parse(
    readFileSync('shared/docs/openapi.json', 'utf8'),
  );
  const guide = readFileSync('infra/guides/webhooks.md', 'utf8');
  const named = [...guide.matchAll(/^\| `(\w+\.\w+)` \|/gm)].map(([, type]) => type);
  expect(named.sort()).toEqual(Object.keys(webhooks).sort());
});

// Numbers as decided, not as the code has them.
test.each([
  ['limits', 'Blocked any 0 0'],
  ['limits', 'Noob below 50 10 10'],
  ['limits', 'Apprentice 50 to 999 50 50'],
  ['limits', 'Sorcerer 1,000 or more 200 200'],
  ['limits', 'Text 25 to 5,000 characters'],
  ['limits', 'Rating 1 to 5'],
  ['limits', 'statement of an appeal 500 characters'],
  ['limits', 'limit 0 to 50'],
  ['limits', 'limit of GET /changes 1 to 100'],
  ['limits', 'Ids in GET /reviews/ 25'],
  ['limits', 'Ids in GET /entities/ 25'],
  ['limits', 'Publications of a person in a day, drafts included 200'],
  ['limits', 'Edits of a person in a day 200'],
  ['limits', 'Revisions in an answer 256 KB'],
  ['limits', 'Page of GET /changes 512 KB'],
  ['limits', 'Query string of these two 4,096 characters'],
  ['limits', 'Reviews in an Atom feed 50'],
  ['limits', 'change feed 30 days'],
  ['limits', 'JSON body 128 KB'],
  ['limits', 'Form 64 KB'],
  ['limits', '255 characters, kept for 24 hours'],
  ['limits', 'display_name 1 to 64 characters'],
  ['limits', 'email 254 characters'],
  ['limits', 'Personal access tokens of a person 20'],
  ['limits', 'Lifetime of a personal access token 7, 30, 90 or 365 days'],
  ['limits', 'Applications of a person 25'],
  ['limits', 'Grants of a person to one application 10'],
  ['limits', 'Authorization code 60 seconds, once'],
  ['limits', 'Access token 3,600 seconds'],
  ['limits', 'Repetition of a refresh 30 seconds'],
  ['limits', 'state 2 KB'],
  ['oauth', 'The code is valid for 60 seconds'],
  ['oauth', 'expires after 3,600 seconds'],
  ['oauth', 'within 30 seconds'],
  ['oauth', 'review Write in your name.'],
  ['oauth', 'vote Vote in your name.'],
  ['oauth', 'user Delete your account.'],
  ['publishing', 'CC BY-SA 3.0 Creative Commons'],
  ['publishing', 'CC BY-NC-SA 3.0 Creative Commons'],
  ['publishing', 'CC BY 4.0 Creative Commons'],
  ['publishing', 'CC BY-SA 4.0 Creative Commons'],
  ['publishing', 'CC BY-NC-SA 4.0 Creative Commons'],
  ['publishing', 'CC0 1.0 Creative Commons'],
  ['entities', 'event musicbrainz.org/event/ID'],
  ['entities', 'place musicbrainz.org/place/ID'],
  ['entities', 'release_group musicbrainz.org/release-group/ID'],
  ['entities', 'work musicbrainz.org/work/ID'],
  ['entities', 'artist musicbrainz.org/artist/ID'],
  ['entities', 'label musicbrainz.org/label/ID'],
  ['entities', 'recording musicbrainz.org/recording/ID'],
  ['entities', 'bk_edition_group bookbrainz.org/edition-group/ID'],
  ['entities', 'bk_literary_work bookbrainz.org/work/ID'],
  ['entities', 'bk_author bookbrainz.org/author/ID'],
  ['entities', 'bk_series bookbrainz.org/series/ID'],
  ['moderation', 'spam , abuse , off_topic , copyright , other'],
])('%s says: %s', (slug, fact) => {
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
  const { html } = renderGuides(facts).guides[5] ?? {};
  expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt; [x](javascript:alert)');
  expect(() => renderGuides({})).toThrow('quickstart.md: there is no fact {{base_url}}');
});
