import { partOf, unreleasedPart, withRelease } from '../../bin/release/changelog.ts';
import { missingIn } from '../../bin/release/check.ts';

const changelog = `# Changelog

## Unreleased

## 1.1.0 (2026-12-01)

### Tasks of an operator

- Nothing. The data has format 3.

## 1.0.0

The first release.
`;

const ready = {
  version: '1.1.0',
  copies: { 'package-lock.json': '1.1.0' },
  changelog,
  guides: { 'README.md': 'git clone --branch v1.1.0' },
  released: ['1.0.0'],
  format: { now: 3, before: 2 },
  uncommitted: [],
};

test('a release that lacks nothing', () => {
  expect(missingIn(ready)).toEqual([]);
  expect(missingIn({ ...ready, format: { now: 3, before: undefined } })).toEqual([]);
});

test.each([
  ['a version with a tag', { released: ['1.1.0'] }, /^version 1.1.0 is released already/],
  ['another version in a file', { copies: { lock: '1.0.0' } }, /^lock has version 1.0.0/],
  ['no version in a file', { copies: { lock: undefined } }, /^lock has version undefined/],
  ['no day', { changelog: changelog.replace(' (2026-12-01)', '') }, /lacks the day/],
  [
    'no word to operators',
    { changelog: changelog.replace('### Tasks of an operator', '### Added') },
    /lacks “### Tasks of an operator”/,
  ],
  [
    'entries that are not released',
    { changelog: changelog.replace('Unreleased', 'Unreleased\n\n- A thing.') },
    /has entries under “Unreleased”/,
  ],
  ['a format that is not told', { format: { now: 4, before: 3 } }, /“format 4”/],
  ['a guide to another version', { guides: { 'README.md': 'v1.0.0' } }, /does not install v1.1.0/],
  ['changes', { uncommitted: ['bin/start.ts'] }, /^not committed: bin\/start.ts$/],
])('%s is missed', (_, part, sentence) => {
  expect(missingIn({ ...ready, ...part })).toEqual([expect.stringMatching(sentence)]);
});

test('a version without a part of the changelog is missed', () => {
  const guides = { 'README.md': 'v1.2.0' };
  const next = { ...ready, version: '1.2.0', copies: {}, guides, format: { now: 3, before: 3 } };
  expect(missingIn(next)).toEqual(['CHANGELOG.md has no part “## 1.2.0”']);
});

describe('the changelog', () => {
  test('has the part of a version, up to the next one', () => {
    expect(partOf(changelog, '## 1.0.0')).toBe('The first release.');
    expect(partOf(changelog, '## 1.1.0')).toMatch(/^### Tasks .* format 3\.$/s);
    expect(partOf(changelog, '## 1.1')).toBeUndefined();
  });

  test('turns what is unreleased into a release', () => {
    const before = '## Unreleased\n\n### Added\n\n- A thing.\n\n## 1.0.0\n';
    const after = withRelease(before, '1.1.0', '2026-12-01');
    expect(unreleasedPart(before)).toBe('### Added\n\n- A thing.');
    expect(unreleasedPart(after)).toBe('');
    expect(partOf(after, '## 1.1.0')).toBe('### Added\n\n- A thing.');
  });
});
