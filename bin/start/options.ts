import { Command, InvalidArgumentError, Option } from 'commander';
import { faultOf, type SettingName, settings, settingsWith } from '../../infra/settings.ts';

/** Settings that an option sets as well as a variable: `--public-url` and PUBLIC_URL. */
export const optionalSettings = settingsWith(({ option }) => option);

/** Returns the option of a setting. A number is parsed, and another value is kept as it is. */
export function optionOf(name: SettingName): Option {
  const { option: [flags = '', help = ''] = [], usual, read } = settings[name];
  const parse = (value: string) => {
    const fault = faultOf(name, value, 'It');
    if (fault) throw new InvalidArgumentError(`${fault}.`);
    const parsed = read?.(value);
    return typeof parsed === 'number' ? parsed : value;
  };
  const option = new Option(flags, help).env(name).argParser(parse);
  return usual === undefined ? option : option.default(parse(usual), usual);
}

/** The command `npm start` with its options. */
export const command = new Command('npm start --').description(
  'Runs the review service on this machine.',
);

for (const name of optionalSettings) command.addOption(optionOf(name));

command
  .option(
    '--host <address>',
    'the address to listen on; 0.0.0.0 is all addresses. An address that other machines reach needs SMTP_URL and MAIL_FROM, or OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET',
    '127.0.0.1',
  )
  .option(
    '--insecure-sign-in',
    'for a demonstration with --public-url or --host: anyone can sign in as anybody',
  )
  .option('--memory', 'keep the data in memory and delete it at the end')
  .option(
    '--demo',
    'fill an empty data folder with 200 reviews, and create a moderator; with --own-types film:Film also with films',
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
  .option('--verbose', 'log request ids, too');
