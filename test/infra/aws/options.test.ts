import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib/core';
import { readOptions } from '../../../infra/aws/options.ts';
import { ownDomain } from '../../helpers/aws/synthesized.ts';
import { newFolder } from '../../helpers/folder.ts';

function read(context: Record<string, string | number>) {
  return readOptions(new App({ context }).node);
}

const { domain, certificateArn, ...zone } = ownDomain;
const own = { domain, certificateArn };
const provider = {
  oidcIssuer: 'https://id.example.org',
  oidcClientId: 'reviews',
  oidcClientSecretArn: 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:oidc-AbCdEf',
};

describe('options that AWS would refuse during a deployment are refused before it', () => {
  const periods = /logDays must be one of 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400,/;
  test.each([
    [{ name: 'paws-reviews' }, /name must not contain aws, amazon or cognito/],
    [{ name: 'amazon-reviews' }, /name must not contain aws, amazon or cognito/],
    [{ name: 'my-cognito' }, /name must not contain aws, amazon or cognito/],
    [{ name: '1st' }, /name must be up to 31 lower-case letters, digits and hyphens/],
    [{ logDays: 29 }, periods],
    [{ logDays: 9999 }, periods],
    [{ logDays: 'thirty' }, periods],
    [{ alarmMail: 'ops' }, /alarmMail must be an e-mail address/],
    [
      { healthCheck: 'https://reviews.example.org/ws/health' },
      /healthCheck must be a name such as/,
    ],
    [{ mailFrom: 'Reviews <reviews@example.org>' }, /mailFrom must be an e-mail address/],
    [{ notices: 'true' }, /mailFrom is missing/],
    [{ mailDomainVerified: 'true' }, /mailFrom is missing; mailDomainVerified needs it/],
    [zone, /domain is missing; hostedZoneId needs it/],
    [{ maxUnits: '1000' }, /maxUnits must be units read and written/],
    [{ maxUnits: '0/1' }, /maxUnits must be units read and written/],
    [{ maxUnits: '1/40000' }, /maxUnits .*: 1 to 39999, and 1 to 39999/],
    [{ warmUnits: '11999/4000' }, /warmUnits .*: 12000 to 40000, and 4000 to 40000/],
    [{ warmUnits: '12000/3999' }, /warmUnits must be units read and written/],
    [{ mailFrom: 'bücher@example.org' }, /mailFrom must be an e-mail address/],
    [{ ...own, domain: 'https://reviews.example.org' }, /domain must be a name such as/],
    [{ ...own, domain: 'Reviews.example.org' }, /domain must be a name such as/],
    [{ ...own, certificateArn: 'reviews' }, /certificateArn must be the ARN of a certificate/],
    [{ ...provider, oidcIssuer: 'id.example.org' }, /oidcIssuer must be an address that begins/],
    [
      { ...provider, oidcClientSecretArn: provider.oidcClientSecretArn.slice(0, -7) },
      /oidcClientSecretArn must be the whole ARN of a secret/,
    ],
    [{ signInConcurrency: 0 }, /signInConcurrency must be a number from 1 to 1000/],
    [{ rateLimit: 0 }, /rateLimit must be a number from 1 to 99999/],
    [{ budget: 50 }, /alarmMail is missing/],
    [{ pageMail: 'pager@example.org' }, /alarmMail is missing; pageMail/],
    [{ pageMail: 'pager', alarmMail: 'ops@example.org' }, /pageMail must be an e-mail address/],
    [{ environment: 'staging' }, /environment must be production or development/],
    [{ domain: 'reviews.example.org' }, /certificateArn is missing/],
    [{ ...own, cdn: 'true' }, /certificateArn must be of us-east-1 with cdn/],
    [{ cdn: 'yes' }, /cdn must be true, open or false/],
    [{ ...own, cdn: 'open' }, /certificateArn must be of us-east-1 with cdn/],
    [{ tracing: 'yes' }, /tracing must be true or false/],
    [{ budget: 'much', alarmMail: 'ops@example.org' }, /budget must be a number/],
  ])('%j', (context: Record<string, string | number>, sentence) => {
    expect(() => read(context)).toThrow(sentence);
  });
});

test.each([
  [{ siteName: 'Vinyl Circle' }, /siteName .* write SITE_NAME into the file/],
  [{ musicdbApi: 'https://music.example' }, /write MUSICDB_API into the file/],
  [{ groups: 'music' }, /write SHOWN_GROUPS into the file/],
  [{ maxReadRequestUnits: 1000 }, /set maxUnits/],
  [{ warmWriteUnits: 8000 }, /set warmUnits/],
  [{ hostedZoneName: 'example.org' }, /hostedZoneId is enough/],
  [{ openAddress: 'true' }, /set cdn to open/],
  [{ withoutIndex: 'type-by-date' }, /update to 1\.2\.0 first/],
  [{ warm: 'false' }, /production is kept warm/],
])('says what to do about a former option: %j', (context: Record<string, string | number>, way) => {
  expect(() => read(context)).toThrow(way);
});

test('accepts options that AWS accepts', () => {
  expect(read({})).toMatchObject({ name: 'review-service', isProduction: true, logDays: 30 });
  const mailFrom = 'reviews@example.org';
  expect(read({}).settings.MAIL_FROM).toBe('');
  expect(read({ mailFrom }).settings.MAIL_FROM).toBe('');
  expect(read({ mailFrom, notices: 'true' }).settings.MAIL_FROM).toBe(mailFrom);
  const units = { maxUnits: '1/39999', warmUnits: '40000/4000' };
  expect(read(units)).toMatchObject({
    maxUnits: { read: 1, write: 39_999 },
    warmUnits: { read: 40_000, write: 4000 },
  });
  // Valid retention periods, by PutRetentionPolicy in the API reference of CloudWatch Logs.
  for (const logDays of [
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
    3288, 3653,
  ]) {
    expect(read({ logDays }).logDays).toBe(logDays);
  }
  // AWS restricts only the domain of a user pool in this way.
  expect(read({ name: 'paws-reviews', ...provider }).name).toBe('paws-reviews');
  const address = { name: domain, certificateArn, hostedZoneId: 'Z0123456789' };
  expect(read(ownDomain).domain).toEqual(address);
  expect(read({ ...own, domain: 'example.org' }).domain?.name).toBe('example.org');
  const inVirginia = certificateArn.replace('eu-central-1', 'us-east-1');
  const behind = (cdn: string) => read({ ...own, certificateArn: inVirginia, cdn });
  expect(behind('true')).toMatchObject({ cdn: true, openAddress: false });
  expect(behind('open')).toMatchObject({ cdn: true, openAddress: true });
  expect(behind('false')).toMatchObject({ cdn: false, openAddress: false });
  const mail = 'ops+reviews@mail.example.org';
  expect(read({ alarmMail: mail, budget: 50 }).budget).toEqual({ dollars: 50, mail });
});

describe('the file of settings', () => {
  const folder = newFolder();
  const file = join(folder, 'settings.env');
  const readFile = (lines: string, more = {}) => {
    writeFileSync(file, lines);
    return read({ settings: file, ...more });
  };

  test('without one, everything is as usual', () => {
    const { settings, siteContent } = read({});
    const set = Object.entries(settings).filter(([, value]) => value !== '');
    expect(Object.fromEntries(set)).toEqual({
      HELD_REVIEWS: '0',
      PUBLICATIONS_PER_DAY: '200',
      EDITS_PER_DAY: '200',
      // All that DynamoDB restores.
      BACKUP_DAYS: '35',
    });
    expect(siteContent).toBeUndefined();
  });

  test('has the settings of a server, by the same names', () => {
    const { settings, siteContent, securityContact } = readFile(
      `# Ours
SITE_NAME="Vinyl Circle"
SITE_CONTACT=ann@example.org
SITE_ACCENT=#7a1f5c
SITE_FOLDER=infra/site/starter
HELD_REVIEWS=2
PUBLICATIONS_PER_DAY=50
EDITS_PER_DAY=0
OWN_TYPES=film:Film
MUSICDB_API=https://music.example.org/{type}/{id}
SITE_TEXT=
`,
      own,
    );
    expect(settings).toMatchObject({
      SITE_NAME: 'Vinyl Circle',
      SITE_CONTACT: 'ann@example.org',
      SITE_ACCENT: '#7a1f5c',
      SITE_PAGES: expect.stringContaining('{"slug":"rules","title":"Rules"}'),
      SITE_LOGO: '',
      HELD_REVIEWS: '2',
      PUBLICATIONS_PER_DAY: '50',
      EDITS_PER_DAY: '0',
      OWN_TYPES: 'film:Film',
      MUSICDB_API: 'https://music.example.org/{type}/{id}',
      SITE_TEXT: '',
    });
    const slugs = siteContent?.pages.map(({ slug }) => slug);
    expect(slugs).toEqual(['about', 'rules', 'privacy', 'imprint']);
    expect(securityContact).toBe('mailto:ann@example.org');
    expect(readFile('SITE_CONTACT=ann@example.org').securityContact).toBeUndefined();
    const both = 'SITE_CONTACT=ann@example.org\nSECURITY_CONTACT=https://example.org/safe';
    expect(readFile(both, own).securityContact).toBe('https://example.org/safe');
  });

  test.each([
    ['SITE_ACCENT=#ffff00', /: SITE_ACCENT #ffff00 has a contrast of 1\.01 on a light page/],
    ['SITE_FOLDER=/nowhere', /folder of the site \/nowhere cannot be read/],
    ['SECURITY_CONTACT=https://example.org/$x', /SECURITY_CONTACT .* is not a contact/],
    ['SOURCE_URL=http://example.org', /: SOURCE_URL must be an address that begins with https/],
    ['HELD_REVIEWS=101', /: HELD_REVIEWS must be a number from 0 \(none wait\) to 100/],
    [
      'PUBLICATIONS_PER_DAY=-1',
      /: PUBLICATIONS_PER_DAY must be a number from 0 \(no limit\) to 1000000/,
    ],
    ['EDITS_PER_DAY=many', /: EDITS_PER_DAY must be a number from 0 \(no limit\) to 1000000/],
    ['OWN_TYPES=film', /: OWN_TYPES: film must have a name/],
    ['IMAGES=film=https://img.example/{id}', /IMAGES: .*film/],
    ['SITE_NAMES=Vinyl', /settings\.env: SITE_NAMES is no setting of a service on AWS/],
    ['SITE_NAME', /SITE_NAME is no line of the form NAME=value/],
    ['SMTP_URL=smtp://x', /SMTP_URL is no setting of a service on AWS/],
  ])('is refused with %s', (line, sentence) => {
    expect(() => readFile(line)).toThrow(sentence);
  });

  test('must be there', () => {
    expect(() => read({ settings: join(folder, 'none') })).toThrow(/none: ENOENT/);
  });
});
