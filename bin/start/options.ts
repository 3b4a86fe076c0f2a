import { Command, Option } from 'commander';
import { readGroups } from '../../shared/entity/group-names.ts';
import { ownTypesIn } from '../../shared/entity/own-types.ts';
import { readPictureHosts, readPictures } from '../../shared/entity/picture.ts';
import { checked, numberFrom } from './values.ts';

/** An option that a variable of the environment sets as well: `--public-url` and PUBLIC_URL. */
function setting(flags: string, description: string): Option {
  const option = new Option(flags, description);
  return option.env(`${option.long}`.slice(2).replaceAll('-', '_').toUpperCase());
}

/** The command `npm start` with its options. */
export const command = new Command('npm start --')
  .description('Runs the review service on this machine.')
  .addOption(
    setting('--port <number>', 'the port to listen on')
      .default(3000)
      .argParser(numberFrom([0, 'any free port'], 65_535)),
  )
  .option(
    '--host <address>',
    'the address to listen on; 0.0.0.0 is all addresses. An address that other machines reach needs SMTP_URL and MAIL_FROM, or OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET',
    '127.0.0.1',
  )
  .addOption(
    setting(
      '--public-url <url>',
      'the HTTPS address of the proxy in front, such as https://reviews.example.org. In an address with a path, such as https://example.org/reviews, the proxy passes the path on. Needs SMTP_URL and MAIL_FROM, or OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET',
    ),
  )
  .addOption(
    setting(
      '--trusted-proxies <list>',
      'IP addresses and ranges of proxies whose X-Forwarded-Proto and X-Forwarded-For are trusted, such as 172.16.0.0/12; this machine is always trusted',
    ),
  )
  .option(
    '--insecure-sign-in',
    'for a demonstration with --public-url or --host: anyone can sign in as anybody',
  )
  .addOption(
    setting(
      '--security-contact <contact>',
      'an e-mail address or URL for /.well-known/security.txt',
    ),
  )
  .addOption(
    setting(
      '--publications-per-day <number>',
      'new reviews and drafts of an account in a day (UTC); 0 is no limit',
    )
      .default(200)
      .argParser(numberFrom([0, 'no limit'], 1_000_000)),
  )
  .addOption(
    setting('--edits-per-day <number>', 'edits of an account in a day (UTC); 0 is no limit')
      .default(200)
      .argParser(numberFrom([0, 'no limit'], 1_000_000)),
  )
  .addOption(
    setting(
      '--held-reviews <number>',
      'public reviews that an account needs until its further ones no longer wait for a moderator',
    )
      .default(0)
      .argParser(numberFrom([0, 'none wait'], 100)),
  )
  .addOption(
    setting(
      '--own-types <list>',
      'types of things that members add here, such as film:Film,board_game:Board game; at most eight',
    ).argParser(checked(ownTypesIn)),
  )
  .addOption(
    new Option(
      '--groups <list>',
      'what this place is about: own, musicdb, bookdb or several of them. Pages speak of nothing else. By default own types, and what has a database or reviews',
    )
      .env('SHOWN_GROUPS')
      .argParser(checked(readGroups)),
  )
  .addOption(
    setting(
      '--images <list>',
      'addresses of pictures by type, such as release_group=https://coverartarchive.org/release-group/{id}/front-250',
    ).argParser(checked(readPictures)),
  )
  .addOption(
    setting(
      '--image-hosts <list>',
      'origins that these addresses redirect to, such as https://archive.org',
    ).argParser(checked(readPictureHosts)),
  )
  .addOption(
    setting(
      '--client-rate-limit <number>',
      'requests a second from one IP address, on average over 10 seconds; more are answered 429. 0 is no limit. This machine and trusted proxies themselves have none',
    )
      .default(20)
      .argParser(numberFrom([0, 'no limit'], 100_000)),
  )
  .addOption(
    setting(
      '--kept-answers <megabytes>',
      'memory for public answers, which are sent again until something is written; 0 keeps none. The embedded database only',
    )
      .default(64)
      .argParser(numberFrom([0, 'keeps none'], 4_096)),
  )
  .addOption(
    setting(
      '--webhook-allow <list>',
      'IP addresses and ranges of an intranet that webhooks may reach, such as 10.0.0.0/8, over HTTP and on any port too. Without --public-url and --host, this machine is one of them',
    ),
  )
  .addOption(setting('--data-dir <folder>', 'the data folder').default('.data'))
  .addOption(
    setting(
      '--backup-days <number>',
      'days that your backups are kept, which pages say to those who delete something',
    ).argParser(numberFrom([1], 3_650)),
  )
  .option('--memory', 'keep the data in memory and delete it at the end')
  .option('--demo', 'fill an empty data folder with 200 reviews, and create a moderator')
  .addOption(
    setting(
      '--dynamodb-endpoint <url>',
      'the URL of a DynamoDB to use instead of the embedded database',
    ),
  )
  .addOption(
    setting(
      '--engine <path>',
      'the program of the embedded database (default: that of the package for this machine)',
    ),
  )
  .addOption(
    setting(
      '--engine-port <number>',
      'a fixed port of the embedded database for a firewall rule (default: any free port)',
    ).argParser(numberFrom([1], 65_535)),
  )
  .addOption(
    setting(
      '--metrics-port <number>',
      'a port that serves GET /metrics to Prometheus (default: no metrics)',
    ).argParser(numberFrom([0, 'any free port'], 65_535)),
  )
  .addOption(
    setting(
      '--metrics-host <address>',
      'the address for the metrics; every machine that reaches it can read them',
    ).default('127.0.0.1'),
  )
  .addOption(
    new Option(
      '--log <format>',
      'the format of the line for each request: text for people, or json without personal data',
    )
      .choices(['text', 'json'])
      .default('text'),
  )
  .option('--quiet', 'log no requests')
  .option('--verbose', 'log request ids and round trips to the database, too');
