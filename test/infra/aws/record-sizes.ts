import { readFileSync, writeFileSync } from 'node:fs';
import { bundleSizes, recordedSizes } from '../../../bin/bench/sizes.ts';

// Writes what bundle-sizes.slow.ts and the bench compare with: `npx node
// test/infra/aws/record-sizes.ts`, after a bundle has grown for a reason. Those that are as large
// as recorded, but for a tenth, stay as they are.
const recorded: Record<string, number> = JSON.parse(readFileSync(recordedSizes, 'utf8'));
const sizes = [...bundleSizes()].map(([operation, bytes]) => {
  const known = recorded[operation] ?? 0;
  return [operation, Math.abs(bytes - known) > 0.1 * known ? bytes : known];
});
writeFileSync(recordedSizes, `${JSON.stringify(Object.fromEntries(sizes.sort()), null, 2)}\n`);
