import { startStack } from '../../../infra/local/stack.ts';
import { newFolder } from '../../helpers/folder.ts';

test.each([
  ['SITE_ACCENT', '#ffff00', 'SITE_ACCENT #ffff00 has a contrast of 1.01 on a light page'],
  ['SITE_FOLDER', '/nowhere', 'The folder of the site /nowhere cannot be read'],
])('a server does not start with a wrong %s', async (name, value, sentence) => {
  process.env[name] = value;
  await expect(startStack({ port: 0, dataDir: newFolder(), memory: true })).rejects.toThrow(
    sentence,
  );
  delete process.env[name];
});
