import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { callerOf } from '../helpers/api.ts';
import { admin, fresh, makeToken, missing, publish, review, start } from '../helpers/service.ts';

const isRoot = process.getuid?.() === 0;

// A file system of its own, which only root can mount.
(isRoot ? test : test.skip)(
  'a full disk refuses writes with a sentence until there is room',
  async () => {
    const disk = fresh('disk');
    mkdirSync(disk, { recursive: true });
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk]);
    expect(`${mounted.stderr}`).toBe('');
    try {
      const dataDir = join(disk, 'data');
      const service = await start(dataDir, { options: ['--quiet', '--publications-per-day', '0'] });
      const token = await makeToken(dataDir);
      const ids = [await publish(service.url, token)];
      const { bavail, bsize } = statfsSync(disk);
      const filler = join(disk, 'filler');
      writeFileSync(filler, Buffer.alloc(bavail * bsize - 64 * 1024));

      const call = callerOf(service.url, token);
      let refused: Awaited<ReturnType<typeof call>> | undefined;
      for (let i = 0; i < 100 && !refused; i++) {
        const answer = await call('POST', '/review/', review());
        if (answer.status === 200) ids.push(answer.body.id);
        else refused = answer;
      }
      expect(refused).toHaveStatus(503);
      expect(refused?.body).toMatchObject({
        error: 'service_unavailable',
        description: expect.stringContaining('disk of this service is full'),
      });
      expect(await missing(service.url, ids)).toEqual([]);
      const health = await call('GET', '/../health');
      expect(health).toHaveStatus(503);
      expect(health.body.description).toContain('disk is full');

      rmSync(filler);
      const deadline = Date.now() + 10_000;
      while ((await call('POST', '/review/', review())).status !== 200 && Date.now() < deadline)
        await sleep(100);
      ids.push(await publish(service.url, token));
      expect(await missing(service.url, ids)).toEqual([]);
      expect(await admin(dataDir, ['audit'])).toMatchObject({ differences: 0 });
      expect(await service.end('SIGTERM')).toBe(0);
    } finally {
      spawnSync('umount', ['-l', disk]);
    }
  },
  120_000,
);
