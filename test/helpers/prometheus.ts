/** A sample of a scrape. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** A metric with its samples. */
interface Family {
  help: string;
  type: string;
  samples: Sample[];
}

const metricName = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const labelPair = '([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\\\\n]|\\\\["\\\\n])*)"';
const sampleLine = new RegExp(
  `^(${metricName})(?:\\{(${labelPair}(?:,${labelPair})*)?,?\\})? (\\S+)$`,
);
const types = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];

/**
 * Parses the text format of Prometheus, version 0.0.4. Throws for what Prometheus refuses. Throws
 * also for samples without type, apart from their metric or repeated, and for a histogram whose
 * buckets are not cumulative.
 */
export function parseMetrics(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('The last line has no end');
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let current = '';
  for (const line of text.split('\n').filter(Boolean)) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      if (families.has(name)) throw new Error(`Described twice: ${name}`);
      families.set(name, { help: rest, type: '', samples: [] });
      current = name;
    } else if (kind === 'TYPE') {
      const family = families.get(name);
      if (name !== current || !family || family.samples.length > 0) throw new Error(line);
      if (!types.includes(rest)) throw new Error(`No type: ${line}`);
      family.type = rest;
    } else {
      const sample = parseSample(line);
      const family = families.get(current);
      const suffixes = { histogram: '(_bucket|_sum|_count)', summary: '(_sum|_count)?' };
      const suffix = suffixes[family?.type as keyof typeof suffixes] ?? '';
      if (!family?.type || !new RegExp(`^${current}${suffix}$`).test(sample.name)) {
        throw new Error(`No part of ${current}: ${line}`);
      }
      const identity = line.slice(0, line.lastIndexOf(' '));
      if (seen.has(identity)) throw new Error(`Repeated: ${line}`);
      seen.add(identity);
      family.samples.push(sample);
    }
  }
  for (const family of families.values()) {
    if (family.type === 'histogram') checkHistogram(family.samples);
  }
  return families;
}

function parseSample(line: string): Sample {
  const match = sampleLine.exec(line);
  const value = match?.at(-1) ?? '';
  const isNumber = /^([+-]?Inf|NaN|[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)$/i.test(value);
  if (!match || !isNumber) throw new Error(`No sample: ${line}`);
  const labels: Record<string, string> = {};
  for (const [, name = '', text = ''] of (match[2] ?? '').matchAll(new RegExp(labelPair, 'g'))) {
    if (name in labels) throw new Error(`A label twice: ${line}`);
    labels[name] = text.replaceAll(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
  }
  return { name: `${match[1]}`, labels, value: Number(value.replace('Inf', 'Infinity')) };
}

function checkHistogram(samples: readonly Sample[]) {
  const series = Map.groupBy(samples, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  for (const [labels, some] of series) {
    const buckets = some.filter(({ name }) => name.endsWith('_bucket'));
    const bounds = buckets.map(({ labels: { le = '' } }) => Number(le.replace('+Inf', 'Infinity')));
    const counts = buckets.map(({ value }) => value);
    const total = some.find(({ name }) => name.endsWith('_count'))?.value;
    const rises = (numbers: number[]) => numbers.every((each, i) => each >= (numbers[i - 1] ?? 0));
    if (!rises(bounds) || !rises(counts)) throw new Error(`Buckets do not rise: ${labels}`);
    if (bounds.at(-1) !== Number.POSITIVE_INFINITY || counts.at(-1) !== total) {
      throw new Error(`The last bucket is not the count: ${labels}`);
    }
  }
}
