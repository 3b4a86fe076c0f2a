import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunctions } from '../../../infra/aws/bundle.ts';

// Writes what bundle-sizes.test.ts compares with: `npx node test/infra/aws/record-sizes.ts`, after a bundle has grown for a reason. Those that
// are as large as recorded, but for a tenth, stay as they are.
const file = new URL('bundle-sizes.json', import.meta.url);
const recorded: Record<string, number> = JSON.parse(readFileSync(file, 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'review-service-sizes-'));
const sizes = [...bundleFunctions(folder)].map(([operation, { bytes }]) => {
  const known = recorded[operation] ?? 0;
  return [operation, Math.abs(bytes - known) > 0.1 * known ? bytes : known];
});
rmSync(folder, { recursive: true });
writeFileSync(file, `${JSON.stringify(Object.fromEntries(sizes.sort()), null, 2)}\n`);
