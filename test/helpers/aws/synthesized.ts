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
import { codeIn } from '../../../infra/aws/bundle.ts';
import { functionNameOf, merged, resources, type Template } from './checks.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const report = 'validation-report.json';
const { PATH, NODE_COMPILE_CACHE, RUN_FOLDER = '' } = process.env;

/** The options of an own domain. */
export const ownDomain = {
  domain: 'reviews.example.org',
  certificateArn:
    'arn:aws:acm:eu-central-1:123456789012:certificate/00000000-0000-4000-8000-000000000000',
  hostedZoneId: 'Z0123456789',
};

/** Every option, with a value other than its default. */
const everyOption = {
  name: 'reviews',
  environment: 'development',
  ...ownDomain,
  firewall: 'true',
  tracing: 'true',
  alarmMail: 'ops@example.org',
  mailFrom: 'reviews@example.org',
  notices: 'true',
  oidcIssuer: 'https://id.example.org',
  oidcClientId: 'reviews',
  oidcClientSecretArn: 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:oidc-AbCdEf',
};

/**
 * Synthesizes the app with default options and with every option. The first test file of a run does
 * it; the others share the output.
 */
export async function synthesized() {
  const folder = join(RUN_FOLDER, 'synthesized');
  const outcome = join(folder, 'outcome.json');
  const plain = join(folder, 'plain');
  const everything = join(folder, 'everything');
  if (mkdirSync(folder, { recursive: true }) !== undefined) {
    const { context } = json(join(root, 'cdk.json'));
    const contexts = { [plain]: context, [everything]: { ...context, ...everyOption } };
    writeFileSync(`${outcome}~`, JSON.stringify(await synthesize(contexts)));
    renameSync(`${outcome}~`, outcome);
  }
  for (const start = Date.now(); !existsSync(outcome); await sleep(50)) {
    if (Date.now() > start + 900_000) throw new Error('Nobody synthesizes');
  }
  const { said, failed } = json(outcome);
  // Findings of cdk-nag are for a test to report, so templates are read even if cdk-nag fails.
  const isWhole = [plain, everything].every((made) => existsSync(join(made, report)));
  if (failed && !isWhole) throw new Error(said);
  return {
    /** The output to stdout and stderr. */
    said,
    plain: deploymentIn(plain, 'review-service', plain),
    everything: deploymentIn(everything, everyOption.name, plain),
  };
}

/**
 * Synthesizes an app into each folder. All share one process, because loading the CDK takes most of
 * the time, and one set of bundles.
 */
function synthesize(contexts: Record<string, Record<string, string>>) {
  return run(`
    import { App } from 'aws-cdk-lib/core';
    import { addStacks, bundle } from './infra/aws/app.ts';
    let bundles;
    const faults = [];
    for (const [outdir, context] of Object.entries(${JSON.stringify(contexts)})) {
      const app = new App({ outdir, context });
      addStacks(app, (bundles ??= await bundle(app)));
      // What cdk-nag finds in one app says nothing of the other.
      try {
        app.synth();
      } catch (fault) {
        faults.push(fault);
      }
    }
    if (faults.length > 0) throw faults[0];`);
}

/** Runs the app as the CDK does, with this context. */
export function runApp(chosen: Record<string, string>) {
  return run("import './bin/app.ts'", { CDK_CONTEXT_JSON: JSON.stringify(chosen) });
}

function run(script: string, environment = {}) {
  const options = { cwd: root, env: { PATH, NODE_COMPILE_CACHE, ...environment } };
  return new Promise<{ said: string; failed: boolean }>((resolve) => {
    execFile(
      process.execPath,
      ['--input-type=module', '-e', script],
      options,
      (error, stdout, stderr) => resolve({ said: stdout + stderr, failed: error !== null }),
    );
  });
}

/** Returns the templates of two stacks, the findings of cdk-nag and the functions' code. */
function deploymentIn(outdir: string, name: string, folder: string) {
  const service = json(join(outdir, `${name}.template.json`)) as Template;
  const parts = partsOf(service, outdir);
  return {
    outdir,
    /** Returns whether CloudFormation refuses to delete a stack. */
    isProtected: (stack: string): boolean =>
      json(join(outdir, 'manifest.json')).artifacts[stack].properties.terminationProtection,
    data: json(join(outdir, `${name}-data.template.json`)) as Template,
    service: merged(service, parts),
    /** The templates within `service`. CloudFormation limits the resources of each. */
    parts: { service, ...parts } as Parts,
    nag: json(join(outdir, report)).pluginReports as unknown[],
    /** The code of an operation, with that of all pages that share its function. */
    code: (operation: string) => codeIn(join(folder, 'functions', functionNameOf(operation))),
  };
}

/** The template of the service stack, and those of its nested stacks by their ids in it. */
export type Parts = Record<string, Template> & { service: Template };

/** Returns the templates of the nested stacks, by their ids in the stack around them. */
export function partsOf(service: Template, outdir: string): Record<string, Template> {
  const nested = readdirSync(outdir).filter((file) => file.endsWith('.nested.template.json'));
  return Object.fromEntries(
    resources(service, 'AWS::CloudFormation::Stack').map(([id]) => {
      // The id ends in a hash, and so does the name of the file.
      const [name = ''] = id.split('NestedStack');
      const file = nested.find((each) => each.replace(/[0-9A-F]{8}\..*$/, '').endsWith(name));
      return [id, json(join(outdir, `${file}`)) as Template];
    }),
  );
}

function json(file: string) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
