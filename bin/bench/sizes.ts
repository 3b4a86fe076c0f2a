import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunctions, codeIn } from '../../infra/aws/bundle.ts';

/** Recorded sizes in bytes. `npx node test/infra/aws/record-sizes.ts` records the current sizes. */
export const recordedSizes = new URL('../../test/infra/aws/bundle-sizes.json', import.meta.url);

/** Bytes of each bundle by operation. Lambda reads and compiles a bundle at every cold start. */
export async function bundleSizes(): Promise<Map<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'review-service-sizes-'));
  try {
    const folders = [...(await bundleFunctions(folder))];
    return new Map(folders.map(([name, each]) => [name, Buffer.byteLength(codeIn(each))]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns a sentence for each bundle over a tenth larger than recorded. */
export function overSizes(sizes: ReadonlyMap<string, number>): string[] {
  const recorded: Record<string, number> = JSON.parse(readFileSync(recordedSizes, 'utf8'));
  return [...sizes].flatMap(([name, bytes]) => {
    const most = Math.floor(1.1 * (recorded[name] ?? 0));
    return bytes > most ? [`${name}: ${bytes} bytes > ${most}`] : [];
  });
}
