import '../helpers/engine.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DescribeTableCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { createTable } from '../../infra/local/storage/table.ts';
import { table } from '../../shared/base/table/client.ts';
import { deleteReview } from '../../shared/core/review/review-repository.ts';
import { refuses, spawnAdmin } from '../helpers/admin.ts';
import { scanTable, storeItems } from '../helpers/items.ts';
import { applyStream } from '../helpers/stream.ts';
import { enterTable } from '../helpers/table.ts';
import { ask, emptyTable, expectRight, folder, path, rate } from '../helpers/transfer-commands.ts';
import { makeUsers, visitor } from '../helpers/world.ts';

describe('npm run admin -- export, import of tables of DynamoDB', () => {
  test('gives back what was lost, from a table that was restored', async () => {
    const [ann, bob] = await makeUsers(2);
    const lost = await ann.publishes();
    const edited = await bob.publishes();
    await bob.votes(lost);
    await applyStream();
    // As DynamoDB restores it: the items, and no stream.
    const { name } = await emptyTable();
    const then = await scanTable();
    const leave = enterTable(name);
    await storeItems(then);
    leave();

    await rate(bob, edited, 1);
    await deleteReview(lost, ann.id);
    await applyStream();

    const restored = path('.jsonl.gz');
    await ask(['export', '--table', name, '--out', restored]);
    const { written, refused } = await ask(['import', restored]);
    expect(written).toEqual({ review: 1, vote: 1 });
    expect(refused).toEqual({});
    await applyStream();
    const { body } = await visitor.reads(lost);
    expect(body.review.votes).toEqual({ positive: 1, negative: 0 });
    const kept = await visitor.reads(edited);
    expect(kept.body.review.rating).toBe(1);
    await expectRight();

    // The same where no stack runs.
    const endpoint = { DYNAMODB_ENDPOINT: `${process.env.AWS_ENDPOINT_URL_DYNAMODB}` };
    const nowhere = join(folder, 'no-stack');
    const again = path('.jsonl.gz');
    const args = ['export', '--table', name, '--out', again];
    expect(await spawnAdmin(args, nowhere, endpoint)).toMatchObject({ code: 0 });
    expect(readFileSync(again)).toEqual(readFileSync(restored));
    const missing = ['export', '--table', 'missing', '--out', path()];
    await refuses(1, [[missing, /there is no table missing: check/]]);
  });

  test('a stream that a killed import has left off is turned on by whoever starts', async () => {
    const { name } = await emptyTable();
    const StreamSpecification = { StreamEnabled: false };
    await table.send(new UpdateTableCommand({ TableName: name, StreamSpecification }));
    const { streamArn: arn } = await createTable(`${process.env.AWS_ENDPOINT_URL_DYNAMODB}`, name);
    const { Table } = await table.send(new DescribeTableCommand({ TableName: name }));
    expect(Table).toMatchObject({
      LatestStreamArn: arn,
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    });
  });
});
