import { readFileSync } from 'node:fs';
import {
  batchAt,
  hitsOfReviews,
  monthOf,
  rowsOfGrowth,
  rowsOfKeys,
  rowsOfLoads,
  rowsOfMonth,
  rowsOfWalls,
  walls,
} from './helpers/capacity.ts';
import { coldShares, deployments } from './helpers/cold-starts.ts';
import {
  billBehindCdn,
  billOf,
  costs,
  costsOfText,
  foldedVotes,
  grownCosts,
  healthChecks,
  importCosts,
  perSecond,
  prices,
} from './helpers/costs.ts';

// The numbers are in test/helpers/costs.ts; test/bench.slow.ts measures them again.

/** Returns a document as one line. */
function guide(name: string): string {
  return readFileSync(new URL(`../${name}`, import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');
}

const deploy = guide('infra/aws/README.md');
const carries = guide('infra/aws/carries.md');
const dollars = (amount: number) => `$${amount.toFixed(2)}`;
const total = (name: keyof typeof costs) => dollars(billOf(costs[name]).total);

test.each(Object.entries(costs))('the deployment guide says what %s costs', (name, use) => {
  const { dynamodb, api, lambda, logs, transfer, total } = billOf(use);
  const parts = [dynamodb, api, lambda, logs, transfer].map(dollars).join(' | ');
  expect(deploy).toContain(
    `| ${name} | ${use.read} + ${use.write} | ${parts} | **${dollars(total)}** |`,
  );
});

test.each([
  ['a review', 0],
  ['a list of 10', 0.9],
  ['a list of 50', 0.9],
] as const)(
  'the deployment guide says what 100 million reads of %s cost with cdn',
  (name, hits) => {
    const { api, requests, transfer, total: whole } = billBehindCdn(costs[name], hits);
    const hundred = (amount: number) => `$${Math.round(100 * amount).toLocaleString('en')}`;
    const before = hundred(billOf(costs[name]).total);
    const parts = [api, requests, transfer].map(hundred).join(' | ');
    expect(deploy).toContain(`| ${name} | ${before} | ${parts} | **${hundred(whole)}** |`);
    expect(deploy).toContain(
      `CloudFront costs ${dollars(1e6 * prices.cdnRequest)} per million requests and $${prices.cdnGigabyteOut} per GB`,
    );
  },
);

test('the deployment guide says what long texts cost', () => {
  const { 'a vote': vote, 'a change of the stars': stars } = costsOfText;
  expect(deploy).toContain(`costs ${vote.longest} write units instead of ${vote.usual}.`);
  expect(deploy).toContain(
    `A change of its stars costs ${stars.longest} instead of ${stars.usual},`,
  );
  const { read } = costs['a list of 50'];
  expect(deploy).toContain(`a list of 50 would cost ${read + 50 / 2} units instead of ${read}`);
});

test.each(Object.entries(deployments))(
  'the deployment guide says how many requests %s leave cold',
  (name, deployment) => {
    const [few, many] = [1_000, 10_000].map((requests) =>
      coldShares(requests, deployment).join(' to '),
    );
    expect(deploy).toContain(`| ${name} | ${few} | ${many} |`);
  },
);

test('warm functions leave at most 25 of 100 requests cold, and 15 with ten times as many', () => {
  const warm = deployments['shared pages, 16 warm'];
  expect(Math.max(...coldShares(1_000, warm))).toBeLessThanOrEqual(25);
  expect(Math.max(...coldShares(10_000, warm))).toBeLessThanOrEqual(15);
});

test.each([
  ['loads', rowsOfLoads],
  ['what saturates', rowsOfWalls],
  ['partition keys', rowsOfKeys],
  ['what a month costs', rowsOfMonth],
  ['what it costs beside requests', rowsOfGrowth],
])('the page on capacity has the computed table of %s', (_, rows) => {
  expect(carries).toContain(` ${rows().join(' ')} `);
});

test('a month of a large community costs at most $930 with full batches', () => {
  expect(monthOf({ window: 60 }).whole).toBeLessThan(930);
});

test('no node of totals or rank trees is full at a thousand loads', () => {
  expect(batchAt(100 * perSecond('a vote'), 5)).toBe(1_000);
  expect(walls().filter(({ what }) => /node/.test(what))).toEqual([]);
});

test('the page on capacity says what single reviews at CloudFront would save', () => {
  const hits = hitsOfReviews(10);
  const { total, transfer } = billOf(costs['a review']);
  const kept = monthOf({ window: 60, cdn: true }).whole - 70 * hits * (total - transfer);
  expect(carries).toContain(
    `from CloudFront in ${Math.round(100 * hits)} of 100 reads, and the last row would be $${Math.round(kept)}.`,
  );
});

test('the deployment guide says what a large table and a busy stream change', () => {
  const grown = (name: keyof typeof grownCosts) => {
    const { write } = costs[name];
    const most = { ...costs[name], ...grownCosts[name] };
    return [most.write, write, dollars(billOf(most).total)] as const;
  };
  const vote = grown('a vote');
  const review = grown('a new review');
  expect(deploy).toContain(
    `a vote costs ${vote[0]} write units instead of ${vote[1]} (${vote[2]} a million in all) and a new review ${review[0]} instead of ${review[1]} (${review[2]})`,
  );
  const [one, two, five] = foldedVotes.map(({ write }) => write) as [number, number, number];
  expect(deploy).toContain(
    `${one} write units for one vote in a batch, ${two} each for two, and ${five} each for five`,
  );
  const saved = (write: number) => dollars(1e6 * prices.writeUnits * (one - write));
  expect(deploy).toContain(`saves ${saved(two)} a million votes`);
  expect(deploy).toContain(`saves ${saved(five)}.`);
});

test('the deployment guide says what lists cost without compression', () => {
  const plain = (kilobytes: number) => dollars(kilobytes * prices.gigabyteOut);
  const lists = [costs['a list of 10'], costs['a list of 50']];
  const [ten, fifty] = lists.map(({ plainKilobytes }) => plain(plainKilobytes));
  expect(deploy).toContain(`Without compression the transfer of lists costs ${ten} and ${fifty}`);
});

test('the README says what a review and a vote cost', () => {
  expect(guide('README.md')).toContain(
    `A million reads of a review cost ${total('a review')}, and a million votes ${total('a vote')}.`,
  );
});

test('the deployment guide says what the check from outside costs', () => {
  const { requests } = healthChecks;
  const asked = (requests / 1e6) * billOf(healthChecks).total;
  const month = Math.round(prices.healthCheck + prices.alarmMetric + asked);
  expect(deploy).toContain(
    `about $${month} a month: ${dollars(prices.healthCheck)} for the check, and its ${requests.toLocaleString('en')} requests`,
  );
});

test('the operations guide says what an import costs', () => {
  const { account, review, vote } = importCosts;
  expect(guide('.github/docs/operate.md')).toContain(
    `an account costs ${account} write units, a review of 1.5 KB ${review}, a vote ${vote},`,
  );
});
