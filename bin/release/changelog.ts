// The changelog: what is unreleased, and the part of a version.

/** Heading of what every release tells its operators. */
export const tasksHeading = '### Tasks of an operator';

const unreleased = '## Unreleased';

/** Returns the part of a heading such as `## 1.2.0`, without the heading, or undefined. */
export function partOf(changelog: string, heading: string): string | undefined {
  const lines = changelog.split('\n');
  const first = lines.findIndex((line) => line === heading || line.startsWith(`${heading} (`));
  if (first < 0) return undefined;
  const next = lines.findIndex((line, i) => i > first && line.startsWith('## '));
  return lines
    .slice(first + 1, next < 0 ? undefined : next)
    .join('\n')
    .trim();
}

/** Returns what is not released yet, or an empty text. */
export const unreleasedPart = (changelog: string): string => partOf(changelog, unreleased) ?? '';

/** Turns what is unreleased into a release of a day (yyyy-mm-dd). */
export function withRelease(changelog: string, version: string, day: string): string {
  return changelog.replace(unreleased, `${unreleased}\n\n## ${version} (${day})`);
}
