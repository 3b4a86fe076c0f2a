import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { merged, type Template } from './checks.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const report = 'validation-report.json';
const { PATH, NODE_COMPILE_CACHE, RUN_FOLDER = '' } = process.env;

/** All that can be chosen, in another way than by default. */
const everyOption = {
  name: 'reviews',
  environment: 'development',
  domain: 'reviews.example.org',
  certificateArn:
    'arn:aws:acm:eu-central-1:123456789012:certificate/00000000-0000-4000-8000-000000000000',
  hostedZoneId: 'Z0123456789',
  hostedZoneName: 'example.org',
  firewall: 'true',
  tracing: 'true',
  sourceMaps: 'true',
  alarmMail: 'ops@example.org',
  musicdbApi: 'https://music.example.org/ws/{type}/{id}',
  musicdbPage: 'https://music.example.org/{type}/{id}',
  oidcIssuer: 'https://id.example.org',
  oidcClientId: 'reviews',
  oidcClientSecretArn: 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:oidc-AbCdEf',
};

/** What the app makes by default, and where everything is chosen. All test files of a run share it: whichever comes first makes it. */
export async function synthesized() {
  const folder = join(RUN_FOLDER, 'synthesized');
  const outcome = join(folder, 'outcome.json');
  const [plain, everything] = [join(folder, 'plain'), join(folder, 'everything')];
  if (mkdirSync(folder, { recursive: true }) !== undefined) {
    const result = await runApp({ [plain]: {}, [everything]: everyOption });
    writeFileSync(`${outcome}~`, JSON.stringify(result));
    renameSync(`${outcome}~`, outcome);
  }
  for (const start = Date.now(); !existsSync(outcome); await sleep(50)) {
    if (Date.now() > start + 300_000) throw new Error('Nobody synthesizes');
  }
  const { said, failed } = json(outcome);
  // What cdk-nag refuses is for a test to say, which sees the templates all the same.
  if (failed && !existsSync(join(everything, report))) throw new Error(said);
  return {
    /** All that it has written to stdout and stderr. */
    said,
    plain: deploymentIn(plain, 'review-service'),
    everything: deploymentIn(everything, everyOption.name),
  };
}

/** Runs the app as the CDK does, with each of the contexts, by its output folder. In one process, because to load it takes most of the time. */
export async function runApp(contexts: Record<string, Record<string, string>>) {
  const { context } = json(join(root, 'cdk.json'));
  const all = Object.entries(contexts).map(([CDK_OUTDIR, chosen]) => {
    return { CDK_OUTDIR, CDK_CONTEXT_JSON: JSON.stringify({ ...context, ...chosen }) };
  });
  const script = `for (const each of ${JSON.stringify(all)}) {
    Object.assign(process.env, each);
    await import('./bin/app.ts?' + each.CDK_OUTDIR);
  }`;
  const synthesis = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    env: { PATH, NODE_COMPILE_CACHE },
  });
  return synthesis.then(
    ({ stdout, stderr }) => ({ said: stdout + stderr, failed: false }),
    ({ stdout, stderr }) => ({ said: `${stdout}${stderr}`, failed: true }),
  );
}

/** The templates of two stacks, what cdk-nag says of them, and the functions' code. */
function deploymentIn(outdir: string, name: string) {
  const service = json(join(outdir, `${name}.template.json`)) as Template;
  const nested = readdirSync(outdir).filter((file) => file.endsWith('.nested.template.json'));
  const functions = json(join(outdir, nested.join())) as Template;
  return {
    outdir,
    /** By the name of a stack, whether CloudFormation refuses to delete it. */
    isProtected: (stack: string): boolean =>
      json(join(outdir, 'manifest.json')).artifacts[stack].properties.terminationProtection,
    data: json(join(outdir, `${name}-data.template.json`)) as Template,
    service: merged(service, functions),
    /** Those of which `service` consists, as CloudFormation counts their resources. */
    parts: { service, functions },
    nag: json(join(outdir, report)).pluginReports as unknown[],
    code: (operation: string) =>
      readFileSync(join(outdir, 'functions', operation, 'index.mjs'), 'utf8'),
  };
}

function json(file: string) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
