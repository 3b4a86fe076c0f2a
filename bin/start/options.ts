import { Command, Option } from 'commander';
import { ownTypesIn } from '../../shared/entity/own-types.ts';
import { readPictureHosts, readPictures } from '../../shared/entity/picture.ts';
import { readGroups } from '../../shared/entity/shown-groups.ts';
import { checked, numberFrom } from './values.ts';

/** The command `npm start` with its options. */
export const command = new Command('npm start --')
  .description('Runs the review service on this machine.')
  .addOption(
    new Option('--port <number>', 'the port to listen on')
      .env('PORT')
      .default(3000)
      .argParser(numberFrom([0, 'any free port'], 65_535)),
  )
  .option(
    '--host <address>',
    'the address to listen on; 0.0.0.0 is all addresses. An address that other machines reach needs SMTP_URL and MAIL_FROM, or OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET',
    '127.0.0.1',
  )
  .addOption(
    new Option(
      '--public-url <url>',
      'the HTTPS address of the proxy in front, such as https://reviews.example.org. In an address with a path, such as https://example.org/reviews, the proxy passes the path on. Needs SMTP_URL and MAIL_FROM, or OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET',
    ).env('PUBLIC_URL'),
  )
  .addOption(
    new Option(
      '--trusted-proxies <list>',
      'IP addresses and ranges of proxies whose X-Forwarded-Proto and X-Forwarded-For are trusted, such as 172.16.0.0/12; this machine is always trusted',
    ).env('TRUSTED_PROXIES'),
  )
  .option(
    '--insecure-sign-in',
    'for a demonstration with --public-url or --host: anyone can sign in as anybody',
  )
  .addOption(
    new Option(
      '--security-contact <contact>',
      'an e-mail address or URL for /.well-known/security.txt',
    ).env('SECURITY_CONTACT'),
  )
  .addOption(
    new Option(
      '--publications-per-day <number>',
      'new reviews and drafts of an account in a day (UTC); 0 is no limit',
    )
      .env('PUBLICATIONS_PER_DAY')
      .default(200)
      .argParser(numberFrom([0, 'no limit'], 1_000_000)),
  )
  .addOption(
    new Option('--edits-per-day <number>', 'edits of an account in a day (UTC); 0 is no limit')
      .env('EDITS_PER_DAY')
      .default(200)
      .argParser(numberFrom([0, 'no limit'], 1_000_000)),
  )
  .addOption(
    new Option(
      '--held-reviews <number>',
      'public reviews that an account needs until its further ones no longer wait for a moderator',
    )
      .env('HELD_REVIEWS')
      .default(0)
      .argParser(numberFrom([0, 'none wait'], 100)),
  )
  .addOption(
    new Option(
      '--own-types <list>',
      'types of things that members add here, such as film:Film,board_game:Board game; at most eight',
    )
      .env('OWN_TYPES')
      .argParser(checked(ownTypesIn)),
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
    new Option(
      '--images <list>',
      'addresses of pictures by type, such as release_group=https://coverartarchive.org/release-group/{id}/front-250',
    )
      .env('IMAGES')
      .argParser(checked(readPictures)),
  )
  .addOption(
    new Option(
      '--image-hosts <list>',
      'origins that these addresses redirect to, such as https://archive.org',
    )
      .env('IMAGE_HOSTS')
      .argParser(checked(readPictureHosts)),
  )
  .addOption(
    new Option(
      '--client-rate-limit <number>',
      'requests a second from one IP address, on average over 10 seconds; more are answered 429. 0 is no limit. This machine and trusted proxies themselves have none',
    )
      .env('CLIENT_RATE_LIMIT')
      .default(20)
      .argParser(numberFrom([0, 'no limit'], 100_000)),
  )
  .addOption(
    new Option(
      '--kept-answers <megabytes>',
      'memory for public answers, which are sent again until something is written; 0 keeps none. The embedded database only',
    )
      .env('KEPT_ANSWERS')
      .default(64)
      .argParser(numberFrom([0, 'keeps none'], 4_096)),
  )
  .addOption(
    new Option(
      '--webhook-allow <list>',
      'IP addresses and ranges of an intranet that webhooks may reach, such as 10.0.0.0/8, over HTTP and on any port too. Without --public-url and --host, this machine is one of them',
    ).env('WEBHOOK_ALLOW'),
  )
  .addOption(new Option('--data-dir <folder>', 'the data folder').env('DATA_DIR').default('.data'))
  .addOption(
    new Option(
      '--backup-days <number>',
      'days that your backups are kept, which pages say to those who delete something',
    )
      .env('BACKUP_DAYS')
      .argParser(numberFrom([1], 3_650)),
  )
  .option('--memory', 'keep the data in memory and delete it at the end')
  .option('--demo', 'fill an empty data folder with 200 reviews, and create a moderator')
  .addOption(
    new Option(
      '--dynamodb-endpoint <url>',
      'the URL of a DynamoDB to use instead of the embedded database',
    ).env('DYNAMODB_ENDPOINT'),
  )
  .addOption(
    new Option(
      '--engine <path>',
      'the program of the embedded database (default: that of the package for this machine)',
    ).env('ENGINE'),
  )
  .addOption(
    new Option(
      '--engine-port <number>',
      'a fixed port of the embedded database for a firewall rule (default: any free port)',
    )
      .env('ENGINE_PORT')
      .argParser(numberFrom([1], 65_535)),
  )
  .addOption(
    new Option(
      '--metrics-port <number>',
      'a port that serves GET /metrics to Prometheus (default: no metrics)',
    )
      .env('METRICS_PORT')
      .argParser(numberFrom([0, 'any free port'], 65_535)),
  )
  .addOption(
    new Option(
      '--metrics-host <address>',
      'the address for the metrics; every machine that reaches it can read them',
    )
      .env('METRICS_HOST')
      .default('127.0.0.1'),
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
