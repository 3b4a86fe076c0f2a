import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  convertWorkflowTemplate,
  NoOperationTraceWriter,
  parseWorkflow,
} from '@actions/workflow-parser';
import { parse } from 'yaml';
import { root } from '../helpers/service.ts';

const files = globSync('.github/workflows/*.yml', { cwd: root }).map((file) => basename(file));
const read = (name: string) => readFileSync(join(root, '.github/workflows', name), 'utf8');

/** Returns the faults that GitHub's own parser finds in a workflow. */
async function faultsOf(name: string, content: string) {
  const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter());
  // Finds jobs that are needed and missing.
  if (value) await convertWorkflowTemplate(context, value);
  return context.errors.getErrors().map(({ message }) => message);
}

test.each(files)('%s is valid, and has no more rights than it needs', async (name) => {
  const content = read(name);
  expect(await faultsOf(name, content)).toEqual([]);
  expect(parse(content).permissions).toEqual({ contents: 'read' });
  const uses = content.match(/uses:.*$/gm) ?? [];
  expect(uses.length).toBeGreaterThan(0);
  // Third-party code is pinned by its commit, with the version as a comment.
  for (const line of uses) {
    expect(line).toMatch(/^uses: actions\/[a-z-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
  }
});

test.each([
  ['runs-on:', 'run-on:', /Unexpected value 'run-on'/],
  ['github.token }}', 'github.token', /expression/],
  ['needs: [version, check]', 'needs: [version, chek]', /unknown job 'chek'/],
])('the parser finds a planted fault: %s as %s', async (right, wrong, fault) => {
  const faults = await faultsOf('release.yml', read('release.yml').replace(right, wrong));
  expect(faults.join()).toMatch(fault);
});

describe('a new version in package.json', () => {
  const { on, jobs } = parse(read('release.yml'));
  const stepsOf = (job: string) => JSON.stringify(jobs[job].steps);

  test('on main alone is released, and only once', () => {
    expect(on).toEqual({ push: { branches: ['main'], paths: ['package.json'] } });
    expect(jobs.check.if).toBe("needs.version.outputs.is-new == 'true'");
    expect(stepsOf('version')).toContain('git rev-parse --quiet --verify');
  });

  test('runs every check before anything is published', () => {
    expect(jobs.release.needs).toEqual(['version', 'check']);
    expect(stepsOf('check')).toContain('sudo bash .ci/run');
    expect(stepsOf('check')).toContain('npm run release -- --check');
  });

  test('makes image, client, archive, notes and, last, the release with its tag', () => {
    const steps = stepsOf('release');
    const parts = [
      '--platform linux/amd64,linux/arm64',
      'npm publish --workspace infra/client --provenance',
      '--archive',
      '--notes',
      'gh release create',
    ];
    const places = parts.map((part) => steps.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });
});
