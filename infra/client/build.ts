import { spawnSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';

// Makes what is published: JavaScript with its types, and those of the API.

process.chdir(import.meta.dirname);
rmSync('dist', { recursive: true, force: true });
const compiler = createRequire(import.meta.url).resolve('typescript/lib/tsc.js');
const { status } = spawnSync(process.execPath, [compiler], { stdio: 'inherit' });
copyFileSync('description.d.ts', 'dist/description.d.ts');
process.exitCode = status ?? 1;
