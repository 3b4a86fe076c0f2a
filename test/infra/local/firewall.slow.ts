import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../../helpers/folder.ts';
import { codeBlock } from '../../helpers/server-guide.ts';
import { root } from '../../helpers/service.ts';

/**
 * Starts an engine on the port of the guide, and connects to it as three users. A socket belongs to
 * the user who made it.
 */
const script = `
  import { once } from 'node:events';
  import { connect } from 'node:net';
  import { startDatabase } from './infra/local/database.ts';
  const { endpoint, stop } = await startDatabase({ port: 8001 });
  const { hostname: host, port } = new URL(endpoint);
  const results = {};
  for (const user of ['daemon', 'nobody', 'root']) {
    process.seteuid(user);
    const socket = connect(Number(port), host);
    results[user] = await once(socket, 'connect').then(() => 'connected', ({ code }) => code);
    socket.destroy();
    process.seteuid('root');
  }
  await stop();
  console.log(JSON.stringify(results));`;

/** Returns the results of the three users, in a network of its own with these rules. */
function connectWith(rules: string) {
  const folder = newFolder();
  const file = join(folder, 'rules.nft');
  writeFileSync(file, rules);
  const commands = 'ip link set lo up && nft --file "$0" && exec "$@"';
  const node = [process.execPath, '--input-type=module', '-e', script];
  const args = ['--net', 'sh', '-c', commands, file, ...node];
  return JSON.parse(`${execFileSync('unshare', args, { cwd: root })}`);
}

// Only root can make a network and become another user. CI runs as root.
const asRoot = process.getuid?.() === 0 ? test : test.skip;

asRoot('the firewall rule of the guide admits only the service’s user to the database', () => {
  // This machine has no user of the service. Another one stands for it.
  const rules = codeBlock('table inet').replace('skuid != reviews', 'skuid != daemon');
  expect(connectWith(rules)).toEqual({
    daemon: 'connected',
    nobody: 'ECONNREFUSED',
    root: 'ECONNREFUSED',
  });
  // Without the rule everybody is admitted, so the rule made the difference.
  expect(connectWith('table inet reviews {}')).toEqual({
    daemon: 'connected',
    nobody: 'connected',
    root: 'connected',
  });
});
