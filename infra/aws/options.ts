import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Node } from 'constructs';

/** What an engineer may choose with `cdk deploy --context <key>=<value>`, or under `context` in cdk.json. */
export interface Options {
  /** The name of the service stack; that of the data stack is `<name>-data`. */
  name: string;
  /** Whether data outlives its stack, and cannot be deleted by mistake. */
  isProduction: boolean;
  /** Requests a second that each route takes from all clients together; twice as many for a moment. */
  rateLimit: number;
  /** How many executions of each function that signs in or makes tokens may run at a time. They are kept free for it. */
  signInConcurrency?: number;
  /** Request units a second that the table, and each of its indexes, may consume. */
  maxReadRequestUnits?: number;
  maxWriteRequestUnits?: number;
  /** How long logs are kept, in days: one of the numbers that CloudWatch takes. */
  logDays: number;
  /** Where alarms are mailed. */
  alarmMail?: string;
  /** What the account should cost in a month, in US dollars, and who is told when it costs more. */
  budget?: { dollars: number; mail: string };
  /** Who the mails of the user pool come from: an address that is verified in Amazon SES. */
  mailFrom?: string;
  domain?: { name: string; certificateArn: string; hostedZone?: { id: string; name: string } };
  /** Another identity provider than the user pool. The secret holds the client secret as plain text. */
  issuer?: { url: string; clientId: string; clientSecretArn: string };
  hasFirewall: boolean;
  hasTracing: boolean;
  /** Readable stack traces, for 15 ms more at each cold start. */
  hasSourceMaps: boolean;
  /** The header of a 403 names the missing scope, by a mapping that API Gateway is not documented to take. */
  hasExactChallenge: boolean;
  /** MUSICDB_API and its like, where configured: see shared/entity/metadata-provider.ts. */
  databases: Record<string, string>;
  /** Where the source of the service is, for the page at its root. */
  sourceUrl: string;
}

const keys = {
  name: 'review-service',
  environment: 'production',
  rateLimit: '500',
  signInConcurrency: '',
  maxReadRequestUnits: '',
  maxWriteRequestUnits: '',
  logDays: '30',
  alarmMail: '',
  budget: '',
  mailFrom: '',
  domain: '',
  certificateArn: '',
  hostedZoneId: '',
  hostedZoneName: '',
  oidcIssuer: '',
  oidcClientId: '',
  oidcClientSecretArn: '',
  firewall: 'false',
  tracing: 'false',
  sourceMaps: 'false',
  exactChallenge: 'false',
  musicdbApi: '',
  musicdbPage: '',
  musicdbAgent: '',
  musicdbInterval: '',
  bookdbApi: '',
  bookdbPage: '',
  bookdbAgent: '',
  bookdbInterval: '',
  sourceUrl: '',
};

/** CloudWatch keeps logs for one of these numbers of days, and no other. */
const retentions = Object.values(RetentionDays).filter(
  (days) => typeof days === 'number' && days !== RetentionDays.INFINITE,
);

const mailAddress = /^[!-?A-~]+@[\w-]+(\.[\w-]+)+$/;
const certificateArn = /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/\S+$/;
/** The right to read it is bound to all of its ARN: six characters at the end are by Secrets Manager. */
const secretArn = /^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:\S+-\w{6}$/;

/** The options in the context of the app. Throws a sentence for whoever deploys, also where AWS would refuse an option only in the middle of a deployment. */
export function readOptions(node: Node): Options {
  const read = (key: keyof typeof keys): string => `${node.tryGetContext(key) ?? keys[key]}`;
  const all = <K extends keyof typeof keys>(...names: K[]): Record<K, string> | undefined => {
    const values = names.map((name) => [name, read(name)] as const);
    const missing = values.filter(([, value]) => !value).map(([name]) => name);
    if (missing.length === names.length) return undefined;
    if (missing.length > 0) throw new Error(`context: ${missing.join(', ')} is missing`);
    return Object.fromEntries(values) as Record<K, string>;
  };
  const one = (key: keyof typeof keys, expression: RegExp, must: string): string => {
    const value = read(key);
    if (!expression.test(value)) throw new Error(`context: ${key} must be ${must}`);
    return value;
  };
  const number = (key: keyof typeof keys, least: number, most: number): number => {
    const must = `a number from ${least} to ${most}`;
    const value = Number(one(key, /^\d{1,9}$/, must));
    if (value < least || value > most) throw new Error(`context: ${key} must be ${must}`);
    return value;
  };
  const flag = (key: keyof typeof keys) => one(key, /^(true|false)$/, 'true or false') === 'true';
  const mail = (key: keyof typeof keys) => one(key, mailAddress, 'an e-mail address');
  const page = (key: keyof typeof keys) =>
    one(key, /^https:\/\/[^\s?#]+$/, 'an address that begins with https://');
  const units = (key: keyof typeof keys) => number(key, 1, 39_999);
  const maybe = <T>(take: (key: keyof typeof keys) => T, key: keyof typeof keys): T | undefined =>
    read(key) ? take(key) : undefined;

  const name = one(
    'name',
    /^[a-z][a-z0-9-]{0,30}$/,
    'up to 31 lower-case letters, digits and hyphens, a letter first',
  );
  const issuer = all('oidcIssuer', 'oidcClientId', 'oidcClientSecretArn');
  if (issuer) {
    page('oidcIssuer');
    one('oidcClientSecretArn', secretArn, 'the whole ARN of a secret, with the end that AWS chose');
  } else if (/aws|amazon|cognito/.test(name)) {
    throw new Error(
      'context: name must not contain aws, amazon or cognito, as Cognito takes no sign-in domain that does',
    );
  }

  const domain = all('domain', 'certificateArn');
  const zone = all('hostedZoneId', 'hostedZoneName');
  if (domain) {
    one('domain', /^([a-z0-9-]+\.)+[a-z0-9-]+$/, 'a name such as reviews.example.org');
    one('certificateArn', certificateArn, 'the ARN of a certificate in Certificate Manager');
  }
  if (zone && !`.${domain?.domain}`.endsWith(`.${zone.hostedZoneName}`)) {
    throw new Error(`context: domain must lie in the zone ${zone.hostedZoneName}`);
  }

  const logDays = Number(read('logDays'));
  if (!retentions.includes(logDays)) {
    throw new Error(`context: logDays must be one of ${retentions.join(', ')}`);
  }

  const alarmMail = maybe(mail, 'alarmMail');
  const dollars = maybe((key) => number(key, 1, 999_999), 'budget');
  if (dollars && !alarmMail) throw new Error('context: alarmMail is missing, whom budget tells');

  for (const key of ['musicdbInterval', 'bookdbInterval'] as const) {
    maybe((key) => number(key, 0, 60_000), key);
  }
  const databases = {
    MUSICDB_API: read('musicdbApi'),
    MUSICDB_PAGE: read('musicdbPage'),
    MUSICDB_AGENT: read('musicdbAgent'),
    MUSICDB_INTERVAL: read('musicdbInterval'),
    BOOKDB_API: read('bookdbApi'),
    BOOKDB_PAGE: read('bookdbPage'),
    BOOKDB_AGENT: read('bookdbAgent'),
    BOOKDB_INTERVAL: read('bookdbInterval'),
  };
  return {
    name,
    isProduction:
      one('environment', /^(production|development)$/, 'production or development') ===
      'production',
    rateLimit: number('rateLimit', 1, 99_999),
    signInConcurrency: maybe((key) => number(key, 1, 1000), 'signInConcurrency'),
    maxReadRequestUnits: maybe(units, 'maxReadRequestUnits'),
    maxWriteRequestUnits: maybe(units, 'maxWriteRequestUnits'),
    logDays,
    alarmMail,
    budget: dollars && alarmMail ? { dollars, mail: alarmMail } : undefined,
    mailFrom: maybe(mail, 'mailFrom'),
    domain: domain && {
      name: domain.domain,
      certificateArn: domain.certificateArn,
      hostedZone: zone && { id: zone.hostedZoneId, name: zone.hostedZoneName },
    },
    issuer: issuer && {
      url: issuer.oidcIssuer,
      clientId: issuer.oidcClientId,
      clientSecretArn: issuer.oidcClientSecretArn,
    },
    hasFirewall: flag('firewall'),
    hasTracing: flag('tracing'),
    hasSourceMaps: flag('sourceMaps'),
    hasExactChallenge: flag('exactChallenge'),
    sourceUrl: maybe(page, 'sourceUrl') ?? '',
    databases: Object.fromEntries(Object.entries(databases).filter(([, value]) => value)),
  };
}
