import '../helpers/engine.ts';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { mockClient } from 'aws-sdk-client-mock';
import { overFormerTrees } from '../../bin/over-former-trees.ts';
import { handler as listUsers } from '../../functions/api/list-users.ts';
import { handler } from '../../functions/background/update-aggregates.ts';
import { batchWrite } from '../../shared/base/table/batch.ts';
import type { Item } from '../../shared/base/table/item.ts';
import { feed, locks, records, silenceConsumer } from '../helpers/aggregates.ts';
import { silence } from '../helpers/console.ts';
import { invoke } from '../helpers/invoke.ts';
import { scanTable } from '../helpers/items.ts';
import { aggregateDifferences } from '../helpers/recount.ts';
import { idsOf, makeUser, makeUsers } from '../helpers/world.ts';

// Format 2 kept all nodes of a tree in the partition of its root, by the path in their sort keys.

const cloudFormation = mockClient(CloudFormationClient);
const path = /#-?\d+(#-?\d+)*$/;
const isNode = ({ pk }: Item) => pk.startsWith('TREE#');
const isFormer = (item: Item) => isNode(item) && item.sk.includes('#');
const formerNodes = async () => (await scanTable()).filter(isFormer);

/** Returns the ids of all accounts, the oldest first. */
async function people() {
  const users = (await scanTable()).filter(({ sk }) => sk === 'USER');
  return users
    .toSorted((a, b) => (`${a.date}` < `${b.date}` ? -1 : 1))
    .map(({ pk }) => pk.slice(5));
}

/** The page of people beyond those that are read from the start of their list. */
async function farPage() {
  const query = { offset: '410', limit: '10' };
  const { body } = await invoke(listUsers, { query });
  return idsOf(body.users);
}

beforeAll(async () => {
  silenceConsumer();
  // Connecting to a stack unsets the one for DynamoDB alone.
  process.env.AWS_ENDPOINT_URL = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  const [ann, ben] = await makeUsers(43);
  // A connection waits for at most a second, and few are open at a time.
  for (let i = 1; i < 10; i++) await makeUsers(43);
  await ben?.votes(`${await ann?.publishes()}`);
  await feed(await records());
  const outputs = (entries: object) => ({
    StackName: '',
    CreationTime: undefined,
    StackStatus: undefined,
    Outputs: Object.entries(entries).map(([OutputKey, OutputValue]) => ({
      OutputKey,
      OutputValue,
    })),
  });
  const { TABLE_NAME: TableName } = process.env;
  const keys = { SigningKeysArn: 'a', SessionKeysArn: 'b', WebhookKeysArn: 'c' };
  cloudFormation
    .on(DescribeStacksCommand, { StackName: 'reviews-data' })
    .resolves({ Stacks: [outputs({ TableName, ...keys })] })
    .on(DescribeStacksCommand, { StackName: 'reviews' })
    .resolves({ Stacks: [outputs({ AuthUrl: 'https://reviews.example.org/ws' })] });
  const nodes = (await scanTable()).filter((item) => isNode(item) && path.test(item.pk));
  await batchWrite(
    nodes.flatMap(({ pk, sk, ...counts }) => [
      { delete: { pk, sk } },
      { put: { pk: pk.replace(path, ''), sk: `${sk}${path.exec(pk)?.[0]}`, ...counts } },
    ]),
  );
});

test('a deployment that fails leaves the nodes of older code as they were', async () => {
  silenceConsumer();
  const before = await formerNodes();
  expect(before.length).toBeGreaterThan(8);
  expect(await overFormerTrees('reviews', 2, async () => 3)).toBe(3);
  expect(await formerNodes()).toEqual(before);
  expect(await locks()).toEqual([]);
});

test('lists are right during a deployment, whose changes count after it', async () => {
  silenceConsumer();
  const before = await formerNodes();
  let late: Awaited<ReturnType<typeof records>> = [];
  const status = await overFormerTrees('reviews', 2, async () => {
    // Older code reads its own nodes, and newer code the others.
    expect(await formerNodes()).toEqual(before);
    expect(await farPage()).toEqual((await people()).slice(410, 420));
    const wrong = (await aggregateDifferences()).filter(
      (line) => !/ ((date|popularity)#.*|id|until) is /.test(line),
    );
    expect(wrong).toEqual([]);
    await makeUser();
    late = await records();
    const { batchItemFailures } = await handler({ Records: late });
    expect(batchItemFailures).toHaveLength(1);
    return 0;
  });
  expect(status).toBe(0);
  expect(await formerNodes()).toEqual([]);
  await feed(late);
  expect(await aggregateDifferences()).toEqual([]);
  expect(await farPage()).toEqual((await people()).slice(410, 420));
});

test('a table without former nodes is deployed at once', async () => {
  const error = silence('error');
  expect(await overFormerTrees('reviews', 3, async () => 0)).toBe(0);
  expect(error).not.toHaveBeenCalled();
});
