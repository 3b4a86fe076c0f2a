import { App } from 'aws-cdk-lib/core';
import { readOptions } from '../../../infra/aws/options.ts';
import { ownDomain } from '../../helpers/aws/synthesized.ts';

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
    [{ mailFrom: 'bücher@example.org' }, /mailFrom must be an e-mail address/],
    [{ ...own, domain: 'https://reviews.example.org' }, /domain must be a name such as/],
    [{ ...own, domain: 'Reviews.example.org' }, /domain must be a name such as/],
    [{ ...own, certificateArn: 'reviews' }, /certificateArn must be the ARN of a certificate/],
    [{ ...own, ...zone, hostedZoneName: 'example.com' }, /domain must be in the zone example\.com/],
    [zone, /domain must be in the zone example\.org/],
    [{ ...provider, oidcIssuer: 'id.example.org' }, /oidcIssuer must be an address that begins/],
    [
      { ...provider, oidcClientSecretArn: provider.oidcClientSecretArn.slice(0, -7) },
      /oidcClientSecretArn must be the whole ARN of a secret/,
    ],
    [{ withoutIndex: 'type' }, /withoutIndex must be the name of an index of the table/],
    [{ maxReadRequestUnits: 0 }, /maxReadRequestUnits must be a number from 1 to 39999/],
    [{ maxWriteRequestUnits: 40_000 }, /maxWriteRequestUnits must be a number from 1 to 39999/],
    [{ warmReadUnits: 11_999 }, /warmReadUnits must be a number from 12000 to 40000/],
    [{ warmWriteUnits: 3_999 }, /warmWriteUnits must be a number from 4000 to 40000/],
    [{ securityContact: 'mailto:security@example.org' }, /domain is missing/],
    [{ ...own, securityContact: 'security@example.org' }, /securityContact must be an address/],
    [{ ...own, securityContact: 'https://example.org/$x' }, /securityContact must be an address/],
    [{ signInConcurrency: 0 }, /signInConcurrency must be a number from 1 to 1000/],
    [{ rateLimit: 0 }, /rateLimit must be a number from 1 to 99999/],
    [{ siteAccent: '#ffff00' }, /siteAccent #ffff00 has a contrast of 1\.01 on a light page/],
    [{ siteName: 'x'.repeat(41) }, /siteName has 41 characters/],
    [{ siteLicense: 'MIT' }, /siteLicense MIT is unknown: choose CC BY-SA 3.0,/],
    [{ siteFolder: '/nowhere' }, /folder of the site \/nowhere cannot be read/],
    [{ heldReviews: 101 }, /heldReviews must be a number from 0 to 100/],
    [{ publicationsPerDay: -1 }, /publicationsPerDay must be a number from 0 to 1000000/],
    [{ editsPerDay: 'many' }, /editsPerDay must be a number from 0 to 1000000/],
    [{ budget: 50 }, /alarmMail is missing/],
    [{ pageMail: 'pager@example.org' }, /alarmMail is missing; pageMail/],
    [{ pageMail: 'pager', alarmMail: 'ops@example.org' }, /pageMail must be an e-mail address/],
    [{ environment: 'staging' }, /environment must be production or development/],
    [{ domain: 'reviews.example.org' }, /certificateArn is missing/],
    [{ ...own, cdn: 'true' }, /certificateArn must be of us-east-1 with cdn/],
    [{ cdn: 'yes' }, /cdn must be true or false/],
    [{ tracing: 'yes' }, /tracing must be true or false/],
    [{ budget: 'much', alarmMail: 'ops@example.org' }, /budget must be a number/],
  ])('%j', (context: Record<string, string | number>, sentence) => {
    expect(() => read(context)).toThrow(sentence);
  });
});

test('accepts options that AWS accepts', () => {
  expect(read({})).toMatchObject({ name: 'review-service', isProduction: true, logDays: 30 });
  const usual = {
    HELD_REVIEWS: '0',
    PUBLICATIONS_PER_DAY: '200',
    EDITS_PER_DAY: '200',
    MAIL_FROM: '',
  };
  expect(read({}).writing).toEqual(usual);
  const mailFrom = 'reviews@example.org';
  expect(read({ mailFrom }).writing).toEqual(usual);
  expect(read({ mailFrom, notices: 'true' }).writing).toEqual({ ...usual, MAIL_FROM: mailFrom });
  expect(read({ heldReviews: 2 }).writing).toEqual({ ...usual, HELD_REVIEWS: '2' });
  const unlimited = { ...usual, PUBLICATIONS_PER_DAY: '50', EDITS_PER_DAY: '0' };
  expect(read({ publicationsPerDay: 50, editsPerDay: 0 }).writing).toEqual(unlimited);
  // Valid retention periods, by PutRetentionPolicy in the API reference of CloudWatch Logs.
  for (const logDays of [
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
    3288, 3653,
  ]) {
    expect(read({ logDays }).logDays).toBe(logDays);
  }
  // AWS restricts only the domain of a user pool in this way.
  expect(read({ name: 'paws-reviews', ...provider }).name).toBe('paws-reviews');
  const hostedZone = { id: 'Z0123456789', name: 'example.org' };
  const address = { name: 'reviews.example.org', certificateArn, hostedZone };
  expect(read(ownDomain).domain).toEqual(address);
  expect(read({ ...own, domain: 'example.org' }).domain?.name).toBe('example.org');
  const inVirginia = certificateArn.replace('eu-central-1', 'us-east-1');
  expect(read({ ...own, certificateArn: inVirginia, cdn: 'true' }).cdn).toBe(true);
  const mail = 'ops+reviews@mail.example.org';
  expect(read({ alarmMail: mail, budget: 50 }).budget).toEqual({ dollars: 50, mail });
});

test('a site has settings for functions, and its files for two of them', () => {
  const names = [
    'NAME',
    'TEXT',
    'CONTACT',
    'ACCENT',
    'IMAGE',
    'LICENSE',
    'LANGUAGE',
    'LOGO',
    'PAGES',
  ];
  const none = Object.fromEntries(names.map((name) => [`SITE_${name}`, '']));
  expect(read({}).site).toEqual({ settings: none, contact: undefined, content: undefined });
  const context = { siteName: 'Vinyl Circle', siteContact: 'ann@example.org' };
  const { site, securityContact } = read({ ...context, siteFolder: 'infra/site/starter', ...own });
  expect(site.settings).toEqual({
    ...none,
    SITE_NAME: 'Vinyl Circle',
    SITE_CONTACT: 'ann@example.org',
    SITE_LOGO: '',
    SITE_PAGES: expect.stringContaining('{"slug":"rules","title":"Rules"}'),
  });
  expect(site.content?.pages.map(({ slug }) => slug)).toEqual([
    'about',
    'rules',
    'privacy',
    'imprint',
  ]);
  expect(securityContact).toBe('mailto:ann@example.org');
  expect(read(context).securityContact).toBeUndefined();
});

test('pages say that a backup of AWS holds 35 days, which is all that DynamoDB restores', () => {
  expect(read({}).things.BACKUP_DAYS).toBe('35');
});

test('limits, reserved executions and mails are off by default', () => {
  const { signInConcurrency, maxReadRequestUnits, maxWriteRequestUnits, ...others } = read({});
  const limits = [signInConcurrency, maxReadRequestUnits, maxWriteRequestUnits];
  expect([...limits, others.budget, others.mailFrom]).toEqual(Array(5).fill(undefined));
});
