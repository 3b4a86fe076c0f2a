import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// A deployment without an account: everything that happens before AWS is asked.

/** Quotas of CloudFormation that cannot be raised, and of a function's code. */
const most = { resources: 500, outputs: 200, templateBytes: 1_048_576, codeBytes: 262_144_000 };

interface Template {
  Resources?: Record<string, { Type: string }>;
  Outputs?: Record<string, unknown>;
}

/**
 * Makes the templates and the code as a deployment does, with the same options. Prints what each
 * stack has. Returns sentences about what AWS would refuse.
 */
export function rehearse(cdkOptions: readonly string[]): string[] {
  const output = mkdtempSync(join(tmpdir(), 'rehearsal-'));
  try {
    const cdk = fileURLToPath(import.meta.resolve('aws-cdk/bin/cdk'));
    const args = [cdk, 'synth', '--quiet', '--output', output, ...cdkOptions];
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
    if (status !== 0) return ['The templates cannot be made.'];
    return [...templatesIn(output), ...codeIn(output)];
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

function templatesIn(output: string): string[] {
  const files = readdirSync(output).filter((file) => file.endsWith('.template.json'));
  return files.toSorted().flatMap((file) => {
    const text = readFileSync(join(output, file), 'utf8');
    const { Resources = {}, Outputs = {} } = JSON.parse(text) as Template;
    const counts = {
      resources: Object.keys(Resources).length,
      outputs: Object.keys(Outputs).length,
      templateBytes: Buffer.byteLength(text),
    };
    const name = file.replace(/(\.nested)?\.template\.json$/, '');
    console.log(`${name}: ${counts.resources} resources, ${counts.templateBytes} bytes`);
    const names = Object.keys(counts) as (keyof typeof counts)[];
    return names
      .filter((what) => counts[what] > most[what])
      .map((what) => `${name} has ${counts[what]} ${what}, and AWS takes ${most[what]}.`);
  });
}

function codeIn(output: string): string[] {
  const folders = readdirSync(output, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name.startsWith('asset.'),
  );
  const sizes = folders.map(({ name }) => {
    const folder = join(output, name);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
  });
  const total = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`${folders.length} folders of code, ${total} bytes`);
  return sizes
    .filter((size) => size > most.codeBytes)
    .map((size) => `A function has ${size} bytes of code, and AWS takes ${most.codeBytes}.`);
}
