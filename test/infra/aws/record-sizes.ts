import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunctions, codeIn } from '../../../infra/aws/bundle.ts';

// Writes the sizes that bundle-sizes.slow.ts compares with. Run `npx node
// test/infra/aws/record-sizes.ts` when a bundle grew for a reason. Sizes within a tenth of the
// recorded ones stay.
const file = new URL('bundle-sizes.json', import.meta.url);
const recorded = JSON.parse(readFileSync(file, 'utf8'));
using folder = mkdtempDisposableSync(join(tmpdir(), 'review-service-sizes-'));
const sizes = [...(await bundleFunctions(folder.path))].map(([name, own]) => {
  const bytes = Buffer.byteLength(codeIn(own));
  const known = recorded[name] ?? 0;
  return [name, Math.abs(bytes - known) > 0.1 * known ? bytes : known];
});
writeFileSync(file, `${JSON.stringify(Object.fromEntries(sizes.sort()), null, 2)}\n`);
