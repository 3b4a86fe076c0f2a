import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  dataSettingsIn,
  refuseNewerFormat,
  refuseOthers,
  settings,
  settingsWith,
} from '../../infra/settings.ts';
import { root } from '../helpers/service.ts';

/** Variables that change no answer of the operator's tool, or that `connect` sets itself. */
const others = [
  // Of the connection.
  'AUTH_URL',
  'TABLE_NAME',
  'DYNAMODB_ENDPOINT',
  'ENGINE',
  'DATA_DIR',
  'AWS_ENDPOINT_URL_DYNAMODB',
  'SIGNING_KEYS',
  '<NAME>',
  '<NAME>_ARN',
  '<SECRET>_ARN',
  '<SECRET>',
  '<VARIABLE>',
  // Of requests that the tool does not make, and of pages that it does not show.
  'OIDC_ISSUER',
  'OIDC_LOCAL_URL',
  'OIDC_CLIENT_ID',
  'OIDC_LOGOUT_URL',
  'WEBHOOK_ALLOW',
  '<PREFIX>_AGENT',
  '<PREFIX>_INTERVAL',
  'IMAGE_HOSTS',
  'MEMBERS',
  'SMTP_URL',
  'OWN_ADDRESS',
  '<GROUP>_SEARCH',
  'BACKUP_DAYS',
  'METRICS_NAMESPACE',
  'OPERATION',
  'AWS_LAMBDA_FUNCTION_NAME',
  '_X_AMZN_TRACE_ID',
];

/** Returns the files that a file loads, itself included. */
function loaded(file: string, seen = new Set<string>()) {
  if (seen.has(file) || !existsSync(file)) return seen;
  seen.add(file);
  const imports = readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']*\.ts)'/g);
  for (const [, path = ''] of imports) loaded(join(dirname(file), path), seen);
  return seen;
}

test('the operator’s tool takes over every setting that its code reads', () => {
  const files = [...loaded('bin/admin/program.ts')];
  expect(files.length).toBeGreaterThan(100);
  const read = files.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const named = [...text.matchAll(/process\.env\.([A-Z]\w+|_X\w+)/g)].map(([, name]) => name);
    const built = [...text.matchAll(/process\.env\[(?:`([^`]*)`|(\w+))\]/g)].map(
      ([, template, variable]) =>
        (template ?? `\${${variable}}`).replace(
          /\$\{(\w+).*?\}/,
          (_, name) => `<${name.toUpperCase()}>`,
        ),
    );
    return [...named, ...built];
  });
  const known: string[] = [
    ...settingsWith(({ isOfData }) => isOfData),
    ...others,
    '<PREFIX>_API',
    '<PREFIX>_PAGE',
  ];
  const site = (name = '') => name.startsWith('SITE_');
  expect([...new Set(read)].filter((name) => !known.includes(`${name}`) && !site(name))).toEqual(
    [],
  );
});

test('a command with other settings than the service ends with the name of one', () => {
  const own = dataSettingsIn(process.env);
  expect(() => refuseOthers(own)).not.toThrow();
  expect(() => refuseOthers({ ...own, OWN_TYPES: 'film:Film' })).toThrow(
    'the service was started with another OWN_TYPES than this command has read',
  );
});

test('data of a newer format is refused by its number', () => {
  expect(() => refuseNewerFormat(2)).not.toThrow();
  expect(() => refuseNewerFormat(99)).toThrow(
    /^the data of the service has format 99, and this code reads formats up to \d+/,
  );
});

test('each setting is in a guide of operators', () => {
  const guides = ['infra/local/README.md', 'infra/aws/README.md', '.github/docs/operate.md'];
  const text = guides.map((file) => readFileSync(join(root, file), 'utf8')).join('');
  const names = Object.keys(settings);
  // The help and every example of a command have the port.
  expect(
    names.filter((name) => name !== 'PORT' && !new RegExp(`\\b${name}\\b`).test(text)),
  ).toEqual([]);
});
