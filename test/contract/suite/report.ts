import type { Result } from './run.ts';

/** In characters: what is shown of a request, which may have a long query. */
const longestRequest = 200;

const words = { holds: 'ok      ', differs: 'DIFFERS ', untried: 'untried ' };

/** The lines of a row in the report. */
export function lineOf({ outcome, claim, request, why }: Result): string {
  if (outcome !== 'differs') return `${words[outcome]}${claim}${why ? `: ${why}` : ''}`;
  return `${words[outcome]}${claim}\n        ${request.slice(0, longestRequest)}: ${why}`;
}

/** Returns the numbers of results by outcome, with their sum over all sections. */
export function count(results: readonly Result[]) {
  const numberOf = (outcome: Result['outcome']) =>
    results.filter((result) => result.outcome === outcome).length;
  return { holds: numberOf('holds'), differs: numberOf('differs'), untried: numberOf('untried') };
}

/** Returns the closing table, then what differs, and why rows could not be tried. */
export function summaryOf(results: readonly Result[]): string {
  const sections = [...new Set(results.map(({ section }) => section))];
  const titles = [...sections, 'Stated by the specification'];
  const width = Math.max(...titles.map(({ length }) => length));
  const line = (title: string, part: readonly Result[]) => {
    const numbers = Object.values(count(part)).map((number) => `${number}`.padStart(9));
    return title.padEnd(width) + numbers.join('');
  };
  const inSection = (title: string) => results.filter(({ section }) => section === title);
  const inSource = (source: string) => results.filter((result) => result.source === source);
  const rows = [
    `${' '.repeat(width)}    holds  differs  untried`,
    ...sections.map((title) => line(title, inSection(title))),
    '',
    line('Stated by the specification', inSource('specification')),
    line('Decided where it is silent', inSource('decision')),
    line('All', results),
  ];
  const differing = results.filter(({ outcome }) => outcome === 'differs');
  const reasons = Map.groupBy(
    results.filter(({ outcome }) => outcome === 'untried'),
    ({ why }) => why,
  );
  return [
    ...rows,
    ...differing.map((result) => `\n${result.section}\n${lineOf(result)}`),
    reasons.size > 0 ? '\nCould not be tried:' : '',
    ...Array.from(reasons, ([why, { length }]) => `${`${length}`.padStart(4)}  ${why}`),
  ].join('\n');
}
