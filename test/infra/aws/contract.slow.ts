import '../../helpers/engine.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRoleWorld } from '../../helpers/aws/role-world.ts';
import { silence } from '../../helpers/console.ts';
import { tryContract } from '../../helpers/contract-run.ts';

const { AWS_ENDPOINT_URL_DYNAMODB: database } = process.env;
const world = await startRoleWorld();

describe('the functions of AWS', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'contract-aws-'));
  // Within the suite, so that the database outlives it.
  afterAll(async () => {
    await world.stop();
    rmSync(dataDir, { recursive: true });
  });

  test('keep the contract, each with its own rights', async () => {
    silence('info');
    const errors = silence('error');
    // The operator's tool finds the service and its database there.
    const stack = {
      pid: process.pid,
      database: null,
      url: world.url,
      identity_provider: process.env.OIDC_ISSUER,
      dynamodb_endpoint: database,
      table_name: process.env.TABLE_NAME,
    };
    writeFileSync(join(dataDir, 'stack.json'), JSON.stringify(stack));
    const { SIGNING_KEYS } = world.secrets;
    const run = await tryContract(['--data-dir', dataDir], { SIGNING_KEYS });
    expect({ ...run, stdout: '' }).toMatchObject({ code: 0, differs: [], stopped: undefined });
    expect(run.untried.map(({ claim }) => claim)).toEqual([
      'Plain HTTP is refused',
      expect.stringContaining('429'),
    ]);
    expect(run.holds).toBeGreaterThan(550);
    expect(JSON.stringify(errors.mock.calls)).not.toMatch(/AccessDenied/);
  });
});
