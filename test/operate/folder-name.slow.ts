import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fresh, root, start } from '../helpers/service.ts';

// Paths, addresses and texts are three things: `#`, `%` and `?` mean something in an address alone.
test('the service starts and answers in a folder of any name', async () => {
  const folder = join(fresh('C# 100%25 é?'), 'review service');
  mkdirSync(folder, { recursive: true });
  for (const name of ['bin', 'functions', 'infra', 'shared', 'package.json']) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const service = await start(join(folder, 'data #1'), { code: folder });
  expect(await fetch(`${service.url}/review/`)).toHaveStatus(200);
  expect(await fetch(new URL('../', `${service.url}/`))).toHaveStatus(200);
  expect(service.err.filter((line) => line.includes('Error'))).toEqual([]);
  expect(await service.end('SIGTERM')).toBe(0);
});
