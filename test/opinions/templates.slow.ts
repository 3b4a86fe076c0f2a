import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { deployed } from '../helpers/aws/deployed.ts';
import { optionSets } from '../helpers/aws/option-sets.ts';
import { describeWith, preparePython } from '../helpers/opinions.ts';

// cfn-lint knows the schemas of AWS for each resource, which cdk-nag does not look at.

const sets = optionSets().map((options) => [JSON.stringify(options), deployed(options)] as const);

describeWith(['python3', '-c', 'import venv, ensurepip'], /^$/, 'cfn-lint', () => {
  let lint = '';
  beforeAll(() => {
    lint = preparePython('cfn-lint');
  }, 600_000);

  test.each(sets)(
    'finds nothing in the templates of the deployment with %s',
    (_, { outdir }) => {
      const files = readdirSync(outdir).filter((name) => name.endsWith('.template.json'));
      expect(files.length).toBeGreaterThan(4);
      const { stdout, stderr } = spawnSync(
        lint,
        // The CDK also writes dependencies that follow from references. An output of the service
        // names the issuer, which is one of the data: the operator's tool reads it.
        ['--ignore-checks', 'W3005', 'W6001', '--', ...files.map((name) => join(outdir, name))],
        { encoding: 'utf8' },
      );
      expect(stdout + stderr).toBe('');
    },
    300_000,
  );
});
