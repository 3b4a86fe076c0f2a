import { settingsFile } from './deployed.ts';
import { ownDomain } from './synthesized.ts';

/** A choice of an operator: options that go together. */
type Choice = Readonly<Record<string, string>>;

const { hostedZoneId, ...domain } = ownDomain;
const settings = settingsFile(`SITE_NAME=Vinyl Circle
SITE_CONTACT=hello@vinyl.example
SITE_ACCENT=#7a1f5c
SITE_FOLDER=infra/site/starter
SECURITY_CONTACT=security@example.org
HELD_REVIEWS=2
OWN_TYPES=film:Film
IMAGES=film=https://images.example.org/{id}.jpg
MUSICDB_API=https://music.example.org/ws/{type}/{id}
MUSICDB_PAGE=https://music.example.org/{type}/{id}
`);

/** The choices of each kind, the usual one first. Each option stands in one of them. */
const kinds: readonly (readonly Choice[])[] = [
  [{}, { environment: 'development', name: 'r'.repeat(31) }],
  [{}, domain, { ...domain, hostedZoneId }],
  [{}, { cdn: 'open' }, { cdn: 'true' }],
  [{}, { firewall: 'true' }],
  [{}, { tracing: 'true' }],
  [
    {},
    { mailFrom: 'reviews@example.org' },
    { mailFrom: 'no-reply@example.org', mailDomainVerified: 'true', notices: 'true' },
  ],
  [
    {},
    { alarmMail: 'ops@example.org' },
    { alarmMail: 'ops@example.org', pageMail: 'pager@example.org', budget: '50' },
  ],
  [{}, { healthCheck: 'reviews.example.org' }],
  [
    {},
    {
      oidcIssuer: 'https://id.example.org',
      oidcClientId: 'reviews',
      oidcClientSecretArn: 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:oidc-AbCdEf',
    },
  ],
  [
    {},
    {
      maxUnits: '1000/2000',
      warmUnits: '20000/8000',
      rateLimit: '200',
      signInConcurrency: '20',
      batchWindow: '60',
      logDays: '7',
    },
  ],
  [{}, { settings }],
];

/**
 * Returns sets of options in which any two choices of different kinds meet. First comes the set of
 * the usual choices, and then the one that meets most new pairs, again and again.
 */
export function optionSets(): Choice[] {
  const isUnmet = new Set(
    kinds.flatMap((some, a) =>
      kinds.flatMap((others, b) =>
        a < b ? some.flatMap((_, i) => others.map((_, j) => `${a}.${i} ${b}.${j}`)) : [],
      ),
    ),
  );
  const sets: Choice[] = [];
  while (isUnmet.size > 0) {
    const picked: number[] = [];
    const pairsOf = (kind: number, choice: number) =>
      picked.map((earlier, i) => `${i}.${earlier} ${kind}.${choice}`);
    for (const [kind, some] of kinds.entries()) {
      const gains = some.map(
        (_, choice) =>
          pairsOf(kind, choice).filter((pair) => isUnmet.has(pair)).length ||
          // Nothing new here: leave it to what has most new pairs with later kinds.
          [...isUnmet].filter((pair) => pair.startsWith(`${kind}.${choice} `)).length / 1000,
      );
      picked.push(sets.length === 0 ? 0 : gains.indexOf(Math.max(...gains)));
    }
    for (const [kind, choice] of picked.entries()) {
      for (const pair of pairsOf(kind, choice).slice(0, kind)) isUnmet.delete(pair);
    }
    sets.push(fitting(Object.assign({}, ...picked.map((choice, kind) => kinds[kind]?.[choice]))));
  }
  return sets;
}

/** CloudFront takes certificates of us-east-1. */
function fitting(set: Choice): Choice {
  const { cdn, certificateArn } = set;
  if (!cdn || !certificateArn) return set;
  return { ...set, certificateArn: certificateArn.replace('eu-central-1', 'us-east-1') };
}
