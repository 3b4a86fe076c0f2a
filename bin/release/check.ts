import { partOf, tasksHeading, unreleasedPart } from './changelog.ts';

/** The parts of a release. */
interface Candidate {
  version: string;
  /** Versions in other files, by their names. */
  copies: Readonly<Record<string, string | undefined>>;
  changelog: string;
  /** Guides that say which release to install, by their names. */
  guides: Readonly<Record<string, string>>;
  /** Versions that have a tag. */
  released: readonly string[];
  /** Numbers of the format of the data: of this code, and of the last release. */
  format: { now: number; before: number | undefined };
  /** Files that are not committed. */
  uncommitted: readonly string[];
}

/** Returns a sentence for all that a release lacks, and what to do about it. */
export function missingIn(candidate: Candidate): string[] {
  const { version, copies, changelog, guides, released, format, uncommitted } = candidate;
  const part = partOf(changelog, `## ${version}`);
  const heading = changelog.split('\n').find((line) => line.startsWith(`## ${version}`)) ?? '';
  const others = Object.entries(copies).filter(([, copy]) => copy !== version);
  const isNewFormat = format.before !== undefined && format.before !== format.now;
  const faults = [
    released.includes(version) &&
      `version ${version} is released already: type npm run release -- VERSION`,
    ...others.map(([file, copy]) => `${file} has version ${copy}, and package.json ${version}`),
    part === undefined && `CHANGELOG.md has no part “## ${version}”`,
    part !== undefined &&
      !/ \(\d{4}-\d{2}-\d{2}\)$/.test(heading) &&
      `CHANGELOG.md: “${heading}” lacks the day of the release, such as (2026-12-01)`,
    part !== undefined &&
      !part.includes(tasksHeading) &&
      `CHANGELOG.md: the part of ${version} lacks “${tasksHeading}”`,
    unreleasedPart(changelog) !== '' &&
      `CHANGELOG.md has entries under “Unreleased”: move them to ${version}`,
    isNewFormat &&
      !part?.includes(`format ${format.now}`) &&
      `CHANGELOG.md: the part of ${version} must name the new “format ${format.now}” of the data`,
    ...Object.entries(guides)
      .filter(([, text]) => !text.includes(`v${version}`))
      .map(([file]) => `${file} does not install v${version}`),
    uncommitted.length > 0 && `not committed: ${uncommitted.join(', ')}`,
  ];
  return faults.filter((fault) => typeof fault === 'string');
}
