import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Node } from 'constructs';
import * as v from 'valibot';
import { readGroups } from '../../shared/entity/group-names.ts';
import { ownTypesIn } from '../../shared/entity/own-types.ts';
import { readPictureHosts, readPictures, refuseUnknownTypes } from '../../shared/entity/picture.ts';
import { readSite, siteSettings } from '../../shared/site/site.ts';
import { tableDefinition } from '../../shared/table/definition.ts';
import { Matching } from '../../shared/values.ts';
import { readSiteFolder } from '../site/read.ts';

/** Retention times of logs that CloudWatch supports, in days. */
const retentions = Object.values(RetentionDays).filter(
  (days) => typeof days === 'number' && days !== RetentionDays.INFINITE,
);

const indexNames = tableDefinition.indexes.map(({ name }) => name);

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
const Interval = v.optional(whole(0, 60_000));
const Units = v.optional(whole(1, 39_999));
const PerDay = v.optional(whole(0, 1_000_000), '200');
const LogDays = v.pipe(
  v.string(),
  v.transform(Number),
  v.check((days) => retentions.includes(days), `must be one of ${retentions.join(', ')}`),
);

/** Options of a deployment: `cdk deploy --context <key>=<value>`, or `context` in cdk.json. */
const Context = v.object({
  /** Of the service stack. The data stack is named `<name>-data`. */
  name: v.optional(Name, 'review-service'),
  /** In production, data outlives its stack and cannot be deleted by mistake. */
  environment: v.optional(
    v.picklist(['production', 'development'], 'must be production or development'),
    'production',
  ),
  /** Requests a second of all clients to each route. The burst is twice as many. */
  rateLimit: v.optional(whole(1, 99_999), '500'),
  /** Reserved and most concurrent executions of each function that signs in or issues tokens. */
  signInConcurrency: v.optional(whole(1, 1000)),
  /** Request units a second that the table and each of its indexes may consume. */
  maxReadRequestUnits: Units,
  maxWriteRequestUnits: Units,
  /**
   * Request units a second that the table and each of its indexes serve at once. The least values
   * are those of a new table, the most are the usual quota of a table.
   */
  warmReadUnits: v.optional(whole(12_000, 40_000)),
  warmWriteUnits: v.optional(whole(4_000, 40_000)),
  /** An index to leave out of this deployment, because DynamoDB makes one new index at a time. */
  withoutIndex: v.optional(v.picklist(indexNames, 'must be the name of an index of the table')),
  /**
   * Seconds for which a consumer of the stream waits for a fuller batch. With more than a minute,
   * the health check would take it for late.
   */
  batchWindow: v.optional(whole(0, 60), '5'),
  /** Public reviews that an account needs until its further ones no longer wait for a moderator. */
  heldReviews: v.optional(whole(0, 100), '0'),
  /** New reviews and drafts, and edits, of an account in a UTC day. 0 is no limit. */
  publicationsPerDay: PerDay,
  editsPerDay: PerDay,
  logDays: v.optional(LogDays, '30'),
  /** The address that alarms are mailed to. */
  alarmMail: v.optional(Mail),
  /** Another address for alarms that somebody gets up for. */
  pageMail: v.optional(Mail),
  /** Host of the service, whose health is then checked from outside. */
  healthCheck: v.optional(Domain),
  /** Monthly budget of the account in US dollars. A higher cost is mailed to `alarmMail`. */
  budget: v.optional(whole(1, 999_999)),
  /** The sender of the user pool's mails and of notices: an address verified in Amazon SES. */
  mailFrom: v.optional(Mail),
  /** Sends mails to authors and moderators, from `mailFrom`. */
  notices: v.optional(Flag, 'false'),
  domain: v.optional(Domain),
  certificateArn: v.optional(
    matching(
      /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/\S+$/,
      'the ARN of a certificate in Certificate Manager',
    ),
  ),
  /** The contact in `/.well-known/security.txt` of the domain, as a URI (RFC 9116). */
  securityContact: v.optional(
    matching(
      /^(https:\/\/|mailto:)[\w.~:/?@%&=+-]+$/,
      'an address that begins with https:// or mailto:',
    ),
  ),
  hostedZoneId: Text,
  hostedZoneName: Text,
  /** An identity provider other than the user pool. */
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
  /** CloudFront in front of the API. The firewall is then there, too. */
  cdn: v.optional(Flag, 'false'),
  /** Serves everybody at the address of API Gateway, between two steps to `cdn` or back. */
  openAddress: v.optional(Flag, 'false'),
  /** Calls the functions that most people meet every five minutes, so that they stay warm. */
  warm: v.optional(Flag, 'true'),
  tracing: v.optional(Flag, 'false'),
  /** Readable stack traces. They cost 15 ms at each cold start. */
  sourceMaps: v.optional(Flag, 'false'),
  /** The header of a 403 names the missing scope, by a mapping that AWS does not document. */
  exactChallenge: v.optional(Flag, 'false'),
  // MUSICDB_API and the like, see shared/entity/metadata-provider.ts.
  musicdbApi: Text,
  musicdbPage: Text,
  musicdbSearch: Text,
  musicdbAgent: Text,
  musicdbInterval: Interval,
  bookdbApi: Text,
  bookdbPage: Text,
  bookdbSearch: Text,
  bookdbAgent: Text,
  bookdbInterval: Interval,
  /** Types that members add, as OWN_TYPES, and pictures, as IMAGES and IMAGE_HOSTS. */
  ownTypes: readBy(ownTypesIn),
  /** Subjects of this place, as SHOWN_GROUPS. */
  groups: readBy(readGroups),
  images: readBy(readPictures),
  imageHosts: readBy(readPictureHosts),
  // SITE_NAME and the like, see shared/site/site.ts.
  siteName: Text,
  siteText: Text,
  siteContact: Text,
  siteAccent: Text,
  siteImage: Text,
  siteLicense: Text,
  siteLanguage: Text,
  /** The folder with the logo and the pages of the site. */
  siteFolder: Text,
  /** The address of the source code, for the home page. */
  sourceUrl: v.optional(Url),
});

type ContextValues = v.InferOutput<typeof Context>;

/** The options in the form that the constructs take. */
export type Options = ReturnType<typeof readOptions>;

/**
 * Reads the options from the context of the app. Throws a sentence for the operator, also where AWS
 * would reject a value in the middle of a deployment.
 */
export function readOptions(node: Node) {
  const values = Object.keys(Context.entries).flatMap((key) => {
    const value = `${node.tryGetContext(key) ?? ''}`;
    return value === '' ? [] : [[key, value]];
  });
  const parsed = v.safeParse(Context, Object.fromEntries(values));
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw new Error(`context: ${v.getDotPath(issue)} ${issue.message}`);
  }
  const options = parsed.output;
  const issuer = together(options, 'oidcIssuer', 'oidcClientId', 'oidcClientSecretArn');
  const domain = together(options, 'domain', 'certificateArn');
  const zone = together(options, 'hostedZoneId', 'hostedZoneName');
  const site = siteOf(options);
  refuseUnknownTypes(options.images, options.ownTypes);
  const { alarmMail, budget } = options;
  if (!issuer && /aws|amazon|cognito/.test(options.name)) {
    throw new Error(
      'context: name must not contain aws, amazon or cognito, because Cognito rejects such a sign-in domain',
    );
  }
  if (zone && !`.${options.domain}`.endsWith(`.${zone.hostedZoneName}`)) {
    throw new Error(`context: domain must be in the zone ${zone.hostedZoneName}`);
  }
  if (options.cdn && domain && domain.certificateArn.split(':')[3] !== 'us-east-1') {
    throw new Error(
      'context: certificateArn must be of us-east-1 with cdn, because CloudFront takes certificates from there alone',
    );
  }
  if (options.securityContact && !domain) {
    throw new Error('context: domain is missing; securityContact is shown there');
  }
  if (options.notices && !options.mailFrom) {
    throw new Error('context: mailFrom is missing; notices are sent from there');
  }
  if (options.pageMail && !alarmMail) {
    throw new Error('context: alarmMail is missing; pageMail is for some alarms only');
  }
  if (budget && !alarmMail) {
    throw new Error('context: alarmMail is missing; budget sends its mails there');
  }
  return {
    ...options,
    isProduction: options.environment === 'production',
    budget: budget && alarmMail ? { dollars: budget, mail: alarmMail } : undefined,
    domain: domain && {
      name: domain.domain,
      certificateArn: domain.certificateArn,
      hostedZone: zone && { id: zone.hostedZoneId, name: zone.hostedZoneName },
    },
    issuer,
    databases: databasesOf(options),
    writing: {
      HELD_REVIEWS: `${options.heldReviews}`,
      PUBLICATIONS_PER_DAY: `${options.publicationsPerDay}`,
      EDITS_PER_DAY: `${options.editsPerDay}`,
      // Without it, no notice is written.
      MAIL_FROM: (options.notices && options.mailFrom) || '',
    },
    things: {
      OWN_TYPES: options.ownTypes,
      SHOWN_GROUPS: options.groups,
      IMAGES: options.images,
      IMAGE_HOSTS: options.imageHosts,
      // DynamoDB restores any second of so many days.
      BACKUP_DAYS: '35',
    },
    securityContact: options.securityContact ?? (domain && site.contact),
    site,
    sourceUrl: options.sourceUrl ?? '',
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

/** Returns the environment variables of the entity databases. */
function databasesOf(options: ContextValues): Record<string, string> {
  const variables = Object.entries(options).flatMap(([option, value]) => {
    const [, database, name] = /^(musicdb|bookdb)(\w+)$/.exec(option) ?? [];
    return database ? [[`${database}_${name}`.toUpperCase(), `${value}`]] : [];
  });
  return Object.fromEntries(variables);
}

/** A text that a function of shared/ can read. */
function readBy(read: (text: string) => unknown) {
  return v.optional(
    v.pipe(
      v.string(),
      v.rawCheck(({ dataset, addIssue }) => {
        try {
          read(`${dataset.value}`);
        } catch (error) {
          addIssue({ message: `is not valid: ${(error as Error).message}` });
        }
      }),
    ),
    '',
  );
}

/** Returns the environment variables and the files of the site. Throws if a setting is invalid. */
function siteOf(options: ContextValues) {
  const folder = options.siteFolder ? readSiteFolder(options.siteFolder) : undefined;
  const variables = Object.entries(options).flatMap(([option, value]) => {
    const [, name] = /^site([A-Z]\w+)$/.exec(option) ?? [];
    return name && name !== 'Folder' ? [[`SITE_${name.toUpperCase()}`, `${value}`]] : [];
  });
  // A function gets each variable that its code reads, also an empty one.
  const unset = [...siteSettings, 'SITE_LOGO', 'SITE_PAGES'].map((name) => [name, '']);
  const settings: Record<string, string> = {
    ...Object.fromEntries(unset),
    ...Object.fromEntries(variables),
    ...folder?.settings,
  };
  try {
    return { settings, contact: readSite(settings).contact, content: folder?.content };
  } catch (error) {
    const named = (error as Error).message.replace(
      /^SITE_(\w)(\w+)/,
      (_, initial, rest) => `site${initial}${rest.toLowerCase()}`,
    );
    throw new Error(`context: ${named}`);
  }
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
