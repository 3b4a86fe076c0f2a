import { findApplication } from '../../../../shared/core/oauth/application-repository.ts';
import { readOwnData } from '../../../../shared/features/account/export.ts';
import { importRecords } from '../../../../shared/features/transfer/import.ts';
import { insertWebhook } from '../../../../shared/features/webhooks/webhook-repository.ts';
import {
  challenge,
  makeClient,
  makeCode,
  redeem,
  verifier,
} from '../../../helpers/oauth-client.ts';
import { enterEmptyTable } from '../../../helpers/table.ts';
import { exported, sourced } from '../../../helpers/transfer.ts';
import { makeUser } from '../../../helpers/world.ts';

const owner = await makeUser();
const redirect_uri = 'https://client.example/callback';
const client = await makeClient(owner, redirect_uri, 'Page', 'public');
await insertWebhook(client.client_id, owner.id, {
  address: 'https://receiver.example/',
  types: ['user.deleted'],
});

test('the data of its owner have a public application', async () => {
  const { applications } = await readOwnData(owner.id);
  const { client_id, name } = client;
  expect(applications).toEqual([expect.objectContaining({ client_id, name, redirect_uri })]);
  expect(JSON.stringify(applications)).not.toMatch(/secret/);
});

test('an export and an import keep a public application as it is', async () => {
  const records = await exported();
  await enterEmptyTable();
  expect(await importRecords(sourced(records))).toMatchObject({
    written: { application: 1, webhook: 1 },
    refused: {},
  });
  const { client_secret: _, ...application } = client;
  expect(await findApplication(client.client_id)).toEqual(application);
  const code = await makeCode(client, owner, { code_challenge: challenge });
  expect(await redeem(client, code, { code_verifier: verifier })).toHaveStatus(200);
});
