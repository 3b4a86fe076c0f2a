import { spawnSync } from 'node:child_process';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import openapiTS, { astToString } from 'openapi-typescript';

// Makes what is published: types from the description of the API, and JavaScript with its types.

process.chdir(import.meta.dirname);
rmSync('dist', { recursive: true, force: true });
const types = await openapiTS(new URL('../../shared/docs/openapi.json', import.meta.url));
writeFileSync('description.d.ts', astToString(types));
const compiler = createRequire(import.meta.url).resolve('typescript/lib/tsc.js');
const { status } = spawnSync(process.execPath, [compiler], { stdio: 'inherit' });
copyFileSync('description.d.ts', 'dist/description.d.ts');
process.exitCode = status ?? 1;
