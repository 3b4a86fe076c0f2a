import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Node } from 'constructs';
import * as v from 'valibot';
import { Matching } from '../../shared/base/values.ts';
import { readSettings, settingNames } from './service-settings.ts';

/** Retention times of logs that CloudWatch supports, in days. */
const retentions = Object.values(RetentionDays).filter(
  (days) => typeof days === 'number' && days !== RetentionDays.INFINITE,
);

const Name = matching(
  /^[a-z][a-z0-9-]{0,30}$/,
  'up to 31 lower-case letters, digits and hyphens, a letter first',
);
const Flag = v.pipe(
  v.picklist(['true', 'false'], 'must be true or false'),
  v.transform((text) => text === 'true'),
);
const Mail = matching(/^[!-?A-~]+@[\w-]+(\.[\w-]+)+$/, 'an e-mail address');
const Url = matching(/^https:\/\/[^\s?#]+$/, 'an address that begins with https://');
const Domain = matching(/^([a-z0-9-]+\.)+[a-z0-9-]+$/, 'a name such as reviews.example.org');
const Text = v.optional(v.string());
const LogDays = v.pipe(
  v.string(),
  v.transform(Number),
  v.check((days) => retentions.includes(days), `must be one of ${retentions.join(', ')}`),
);

/**
 * Options of a deployment: `cdk deploy --context <key>=<value>`, or `context` in cdk.json. The
 * README says what each is for.
 */
const Context = v.object({
  /** Of the service stack. The data stack is named `<name>-data`. */
  name: v.optional(Name, 'review-service'),
  /** In production, data outlives its stack and cannot be deleted by mistake. */
  environment: v.optional(
    v.picklist(['production', 'development'], 'must be production or development'),
    'production',
  ),
  rateLimit: v.optional(whole(1, 99_999), '500'),
  signInConcurrency: v.optional(whole(1, 1000)),
  /** A file: see service-settings.ts. */
  settings: v.optional(v.string()),
  /** Request units a second that the table and each of its indexes may consume: read/written. */
  maxUnits: v.optional(pair([1, 39_999], [1, 39_999])),
  /**
   * Request units a second that the table and each of its indexes serve at once: read/written. The
   * least values are those of a new table, the most are the usual quota of a table.
   */
  warmUnits: v.optional(pair([12_000, 40_000], [4_000, 40_000])),
  /**
   * Seconds for which a consumer of the stream waits for a fuller batch. With more than a minute,
   * the health check would take it for late.
   */
  batchWindow: v.optional(whole(0, 60), '5'),
  logDays: v.optional(LogDays, '30'),
  alarmMail: v.optional(Mail),
  pageMail: v.optional(Mail),
  healthCheck: v.optional(Domain),
  /** US dollars a month. */
  budget: v.optional(whole(1, 999_999)),
  /** The sender of the user pool's mails and of notices: an address verified in Amazon SES. */
  mailFrom: v.optional(Mail),
  /** The identity in Amazon SES is the domain of `mailFrom`, and not the address. */
  mailDomainVerified: v.optional(Flag, 'false'),
  notices: v.optional(Flag, 'false'),
  domain: v.optional(Domain),
  certificateArn: v.optional(
    matching(
      /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/\S+$/,
      'the ARN of a certificate in Certificate Manager',
    ),
  ),
  hostedZoneId: Text,
  oidcIssuer: v.optional(Url),
  oidcClientId: Text,
  /** A secret with the client secret as plain text. The right to read it names the whole ARN. */
  oidcClientSecretArn: v.optional(
    matching(
      /^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:\S+-\w{6}$/,
      'the whole ARN of a secret, with the end that AWS chose',
    ),
  ),
  firewall: v.optional(Flag, 'false'),
  /** With `open`, the address of API Gateway serves everybody as well. */
  cdn: v.optional(v.picklist(['false', 'open', 'true'], 'must be true, open or false'), 'false'),
  tracing: v.optional(Flag, 'false'),
});

type ContextValues = v.InferOutput<typeof Context>;

/** The options in the form that the constructs take. */
export type Options = ReturnType<typeof readOptions>;

/** Options that mean something only beside another. */
const companions = {
  hostedZoneId: 'domain',
  notices: 'mailFrom',
  mailDomainVerified: 'mailFrom',
  pageMail: 'alarmMail',
  budget: 'alarmMail',
} as const satisfies Partial<Record<keyof ContextValues, keyof ContextValues>>;

/** Options of earlier versions, and what to do instead. */
const formerOptions: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    settingNames.map((name) => [
      name === 'SHOWN_GROUPS' ? 'groups' : camelCase(name),
      `write ${name} into the file that the option settings names`,
    ]),
  ),
  maxReadRequestUnits: 'set maxUnits to read/written units, such as 1000/2000',
  maxWriteRequestUnits: 'set maxUnits to read/written units, such as 1000/2000',
  warmReadUnits: 'set warmUnits to read/written units, such as 20000/8000',
  warmWriteUnits: 'set warmUnits to read/written units, such as 20000/8000',
  hostedZoneName: 'hostedZoneId is enough',
  openAddress: 'set cdn to open',
  withoutIndex: 'update to 1.2.0 first',
  warm: 'production is kept warm, and development is not',
  sourceMaps: 'remove it',
  exactChallenge: 'remove it',
};

function camelCase(setting: string) {
  return setting.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Reads the options from the context of the app. Throws a sentence for the operator, also where AWS
 * would reject a value in the middle of a deployment.
 */
export function readOptions(node: Node) {
  const textOf = (key: string) => `${node.tryGetContext(key) ?? ''}`;
  const former = Object.keys(formerOptions).find((key) => textOf(key) !== '');
  if (former) throw new Error(`context: ${former} is no option any more: ${formerOptions[former]}`);
  const values = Object.keys(Context.entries).flatMap((key) =>
    textOf(key) === '' ? [] : [[key, textOf(key)]],
  );
  const parsed = v.safeParse(Context, Object.fromEntries(values));
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw new Error(`context: ${v.getDotPath(issue)} ${issue.message}`);
  }
  const options = parsed.output;
  const issuer = together(options, 'oidcIssuer', 'oidcClientId', 'oidcClientSecretArn');
  const domain = together(options, 'domain', 'certificateArn');
  for (const [name, other] of Object.entries(companions)) {
    if (options[name as keyof typeof companions] && !options[other]) {
      throw new Error(`context: ${other} is missing; ${name} needs it`);
    }
  }
  if (!issuer && /aws|amazon|cognito/.test(options.name)) {
    throw new Error(
      'context: name must not contain aws, amazon or cognito, because Cognito rejects such a sign-in domain',
    );
  }
  const cdn = options.cdn !== 'false';
  if (cdn && domain && domain.certificateArn.split(':')[3] !== 'us-east-1') {
    throw new Error(
      'context: certificateArn must be of us-east-1 with cdn, because CloudFront takes certificates from there alone',
    );
  }
  const { alarmMail, budget, hostedZoneId, notices, mailFrom } = options;
  const { variables, content, securityContact } = readSettings(options.settings);
  return {
    ...options,
    isProduction: options.environment === 'production',
    budget: budget && alarmMail ? { dollars: budget, mail: alarmMail } : undefined,
    domain: domain && { name: domain.domain, certificateArn: domain.certificateArn, hostedZoneId },
    issuer,
    cdn,
    /** True if CloudFront’s key is not demanded. */
    openAddress: options.cdn === 'open',
    settings: {
      ...variables,
      // Without it, no notice is written.
      MAIL_FROM: (notices && mailFrom) || '',
      // DynamoDB restores any second of so many days.
      BACKUP_DAYS: '35',
    },
    siteContent: content,
    securityContact: domain && securityContact,
  };
}

/** Returns options that are valid only together, or undefined. Throws if some are missing. */
function together<K extends keyof ContextValues>(options: ContextValues, ...names: K[]) {
  const missing = names.filter((name) => options[name] === undefined);
  if (missing.length === names.length) return undefined;
  if (missing.length > 0) throw new Error(`context: ${missing.join(', ')} is missing`);
  const values = Object.fromEntries(names.map((name) => [name, options[name]]));
  return values as { [N in K]: NonNullable<ContextValues[N]> };
}

function matching(expression: RegExp, must: string) {
  return Matching(expression, `must be ${must}`);
}

function whole(least: number, most: number) {
  const must = `must be a number from ${least} to ${most}`;
  return v.pipe(
    Matching(/^\d{1,9}$/, must),
    v.transform(Number),
    v.minValue(least, must),
    v.maxValue(most, must),
  );
}

/** Units read and written, each within these limits. */
function pair(reads: readonly [number, number], writes: readonly [number, number]) {
  const range = ([least, most]: readonly [number, number]) => `${least} to ${most}`;
  const must = `must be units read and written, such as ${writes[1]}/${writes[1]}: ${range(reads)}, and ${range(writes)}`;
  const isWithin = (value: number, [least, most]: readonly [number, number]) =>
    value >= least && value <= most;
  return v.pipe(
    Matching(/^\d{1,5}\/\d{1,5}$/, must),
    v.transform((text) => {
      const [read = 0, write = 0] = text.split('/').map(Number);
      return { read, write };
    }),
    v.check(({ read, write }) => isWithin(read, reads) && isWithin(write, writes), must),
  );
}
