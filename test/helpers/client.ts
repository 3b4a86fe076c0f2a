import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './service.ts';

/** Builds the client, and installs it into a folder as npm would. */
export function installClient(folder: string): void {
  const packages = join(folder, 'node_modules/@review-service');
  execFileSync('npm', ['run', '-s', 'build', '-w', 'infra/client'], { cwd: root });
  mkdirSync(packages, { recursive: true });
  symlinkSync(join(root, 'infra/client'), join(packages, 'client'));
}
