import { dataFormat } from '../shared/base/table/format.ts';
import { readGroups } from '../shared/core/entity/group-names.ts';
import { ownTypesIn } from '../shared/core/entity/own-types.ts';
import { readPictureHosts, readPictures } from '../shared/core/entity/picture.ts';
import { readMembers } from '../shared/features/members/public.ts';

// The settings of a service: a row for each. A server takes them from its environment, and from
// options of `npm start`. On AWS they stand in a file, and functions have them as variables.

interface Setting {
  /** The value without one. */
  usual?: string;
  /** Reads a value. Throws an Error that says what it must be. */
  read?: (text: string) => unknown;
  /** The option of `npm start`: its flags, and what `--help` says. Other settings have none. */
  option?: readonly [flags: string, help: string];
  /** The host that has it. Without one, both have it. */
  on?: 'server' | 'AWS';
  /**
   * True if the data is read with it. A program that connects to the service, such as the
   * operator's tool, takes it from the service and from nowhere else.
   */
  isOfData?: true;
}

const perDay = { usual: '200', read: numberFrom([0, 'no limit'], 1_000_000) } as const;
const interval = { read: numberFrom([0, 'no pause'], 60_000) } as const;

const rows = {
  PORT: {
    on: 'server',
    usual: '3000',
    read: numberFrom([0, 'any free port'], 65_535),
    option: ['--port <number>', 'the port to listen on'],
  },
  PUBLIC_URL: {
    on: 'server',
    option: [
      '--public-url <url>',
      'the HTTPS address of the proxy in front, such as https://reviews.example.org. In an address with a path, such as https://example.org/reviews, the proxy passes the path on. Needs SMTP_URL and MAIL_FROM, or OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET',
    ],
  },
  TRUSTED_PROXIES: {
    on: 'server',
    option: [
      '--trusted-proxies <list>',
      'IP addresses and ranges of proxies whose X-Forwarded-Proto and X-Forwarded-For are trusted, such as 172.16.0.0/12; this machine is always trusted',
    ],
  },
  SECURITY_CONTACT: {
    option: [
      '--security-contact <contact>',
      'an e-mail address or URL for /.well-known/security.txt',
    ],
  },
  SOURCE_URL: {
    on: 'AWS',
    read: (text) => {
      if (/^https:\/\/[^\s?#]+$/.test(text)) return;
      throw new Error('must be an address that begins with https://');
    },
  },
  PUBLICATIONS_PER_DAY: {
    ...perDay,
    isOfData: true,
    option: [
      '--publications-per-day <number>',
      'new reviews and drafts of an account in a day (UTC); 0 is no limit',
    ],
  },
  EDITS_PER_DAY: {
    ...perDay,
    isOfData: true,
    option: ['--edits-per-day <number>', 'edits of an account in a day (UTC); 0 is no limit'],
  },
  HELD_REVIEWS: {
    usual: '0',
    read: numberFrom([0, 'none wait'], 100),
    isOfData: true,
    option: [
      '--held-reviews <number>',
      'public reviews that an account needs until its further ones no longer wait for a moderator',
    ],
  },
  MEMBERS: {
    read: readMembers,
    option: [
      '--members <list>',
      'who may open an account: addresses and domains, such as @club.example,ann@mail.example, and `invited` for people with an invitation. Without it, everybody may',
    ],
  },
  USER_LIST: {
    read: (text) => {
      if (text === 'all' || text === 'authors') return;
      throw new Error('must be all or authors');
    },
    option: [
      '--user-list <who>',
      'whom GET /user/ lists: all, as the specification says, or authors, who have a public review (default: all)',
    ],
  },
  OWN_TYPES: {
    read: ownTypesIn,
    isOfData: true,
    option: [
      '--own-types <list>',
      'types of things that members add here, such as film:Film,board_game:Board game; at most eight',
    ],
  },
  SHOWN_GROUPS: {
    read: readGroups,
    isOfData: true,
    option: [
      '--groups <list>',
      'what this place is about: own, musicdb, bookdb or several of them. Pages speak of nothing else, and nothing else can be reviewed. By default pages speak of own types and of what has a database',
    ],
  },
  IMAGES: {
    read: readPictures,
    isOfData: true,
    option: [
      '--images <list>',
      'addresses of pictures by type, such as release_group=https://coverartarchive.org/release-group/{id}/front-250',
    ],
  },
  IMAGE_HOSTS: {
    read: readPictureHosts,
    option: [
      '--image-hosts <list>',
      'origins that these addresses redirect to, such as https://archive.org',
    ],
  },
  MAIL_FROM: { on: 'server', isOfData: true },
  SITE_NAME: {},
  SITE_TEXT: {},
  SITE_CONTACT: {},
  SITE_ACCENT: {},
  SITE_IMAGE: {},
  SITE_LICENSE: {},
  SITE_LANGUAGE: {},
  /** The folder with the logo and the pages of the site. */
  SITE_FOLDER: {},
  MUSICDB_API: { isOfData: true },
  MUSICDB_PAGE: { isOfData: true },
  MUSICDB_SEARCH: {},
  MUSICDB_AGENT: {},
  MUSICDB_INTERVAL: interval,
  BOOKDB_API: { isOfData: true },
  BOOKDB_PAGE: { isOfData: true },
  BOOKDB_SEARCH: {},
  BOOKDB_AGENT: {},
  BOOKDB_INTERVAL: interval,
  CLIENT_RATE_LIMIT: {
    on: 'server',
    usual: '20',
    read: numberFrom([0, 'no limit'], 100_000),
    option: [
      '--client-rate-limit <number>',
      'requests a second from one IP address, on average over 10 seconds; more are answered 429. 0 is no limit. This machine and trusted proxies themselves have none',
    ],
  },
  SIGN_IN_MAILS: {
    on: 'server',
    usual: '600',
    read: numberFrom([10], 1_000_000),
    option: [
      '--sign-in-mails <number>',
      'mails that sign people in, in an hour. A half is for anybody, five sixths for addresses with an account, and all for browsers that have signed in',
    ],
  },
  SIGN_IN_MAILS_PER_CLIENT: {
    on: 'server',
    usual: '300',
    read: numberFrom([10], 1_000_000),
    option: [
      '--sign-in-mails-per-client <number>',
      'these mails for one IP address in an hour, for example of a room with 300 members. A tenth is for anybody, the rest for addresses with an account',
    ],
  },
  WEBHOOK_ALLOW: {
    on: 'server',
    option: [
      '--webhook-allow <list>',
      'IP addresses and ranges of an intranet that webhooks may reach, such as 10.0.0.0/8, over HTTP and on any port too. Without --public-url and --host, this machine is one of them',
    ],
  },
  DATA_DIR: { on: 'server', usual: '.data', option: ['--data-dir <folder>', 'the data folder'] },
  BACKUP_DAYS: {
    on: 'server',
    read: numberFrom([1], 3_650),
    option: [
      '--backup-days <number>',
      'days that your backups are kept, which pages say to those who delete something',
    ],
  },
  DYNAMODB_ENDPOINT: {
    on: 'server',
    option: ['--dynamodb-endpoint <url>', 'the URL of a DynamoDB to use instead of SQLite'],
  },
  METRICS_PORT: {
    on: 'server',
    read: numberFrom([0, 'any free port'], 65_535),
    option: [
      '--metrics-port <number>',
      'a port that serves GET /metrics to Prometheus (default: no metrics)',
    ],
  },
  METRICS_HOST: {
    on: 'server',
    usual: '127.0.0.1',
    option: [
      '--metrics-host <address>',
      'the address for the metrics; every machine that reaches it can read them',
    ],
  },
} as const satisfies Record<string, Setting>;

type Rows = typeof rows;
export type SettingName = keyof Rows;

export const settings: Readonly<Record<SettingName, Setting>> = rows;

/** Returns the names of the settings that have something, in the order of the rows. */
export function settingsWith(has: (setting: Setting) => unknown): SettingName[] {
  return (Object.keys(rows) as SettingName[]).filter((name) => has(settings[name]));
}

/** A sentence without its full stop about what is wrong with a value. Undefined if nothing is. */
export function faultOf(setting: SettingName, value: string, name = `${setting}`) {
  try {
    settings[setting].read?.(value);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    return message.startsWith('must ') ? `${name} ${message}` : message;
  }
}

/** Reads a whole number. `low` may say what the lowest one means. */
function numberFrom([low, meaning]: readonly [number, string?], high: number) {
  return (text: string): number => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= low && number <= high) return number;
    const lowest = meaning ? `${low} (${meaning})` : `${low}`;
    throw new Error(`must be a number from ${lowest} to ${high}`);
  };
}

/** Names of the settings that data is read with. */
type DataSetting = {
  [N in SettingName]: Rows[N] extends { isOfData: true } ? N : never;
}[SettingName];

const dataSettings = settingsWith(({ isOfData }) => isOfData) as DataSetting[];

/** Values by name. A setting without a value is absent. */
export type DataSettings = Partial<Record<DataSetting, string>>;

/** Returns the settings among environment variables or options. */
export function dataSettingsIn(values: Readonly<Record<string, string | undefined>>): DataSettings {
  return Object.fromEntries(
    dataSettings.flatMap((name) => (values[name] ? [[name, values[name]]] : [])),
  );
}

/** Sets the environment to the settings of a service, before code that reads them is loaded. */
export function adopt(settings: DataSettings): void {
  for (const name of dataSettings) {
    const value = settings[name];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

/** Throws a sentence if the data of a service has a format that this code does not know. */
export function refuseNewerFormat(format: number): void {
  if (format <= dataFormat) return;
  throw new Error(
    `the data of the service has format ${format}, and this code reads formats up to ${dataFormat}: use the code of the version that runs`,
  );
}

/** Throws a sentence if this process works with other settings than the service. */
export function refuseOthers(settings: DataSettings): void {
  const own = dataSettingsIn(process.env);
  const other = dataSettings.find((name) => own[name] !== settings[name]);
  if (other === undefined) return;
  throw new Error(
    `the service was started with another ${other} than this command has read: repeat the command`,
  );
}
