import { readFileSync, writeFileSync } from 'node:fs';
import { bundleSizes, recordedSizes } from '../../../bin/bench/sizes.ts';

// Writes the sizes that bundle-sizes.slow.ts and the bench compare with. Run `npx node
// test/infra/aws/record-sizes.ts` when a bundle grew for a reason. Sizes within a tenth of the
// recorded ones stay.
const recorded = JSON.parse(readFileSync(recordedSizes, 'utf8'));
const sizes = [...(await bundleSizes())].map(([operation, bytes]) => {
  const known = recorded[operation] ?? 0;
  return [operation, Math.abs(bytes - known) > 0.1 * known ? bytes : known];
});
writeFileSync(recordedSizes, `${JSON.stringify(Object.fromEntries(sizes.sort()), null, 2)}\n`);
