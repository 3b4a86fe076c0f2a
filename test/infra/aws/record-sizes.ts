import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunctions } from '../../../infra/aws/bundle.ts';

// Writes what bundle-sizes.test.ts compares with: `npx node test/infra/aws/record-sizes.ts`, after a bundle has grown for a reason.
const folder = mkdtempSync(join(tmpdir(), 'review-service-sizes-'));
const sizes = [...bundleFunctions(folder)].map(([operation, { bytes }]) => [operation, bytes]);
rmSync(folder, { recursive: true });
writeFileSync(
  new URL('bundle-sizes.json', import.meta.url),
  `${JSON.stringify(Object.fromEntries(sizes.sort()), null, 2)}\n`,
);
