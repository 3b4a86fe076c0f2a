import { notFound } from '../../shared/base/errors.ts';
import { Uuid } from '../../shared/base/values.ts';
import {
  countAhead,
  listWebhooks,
  pauseWebhook,
  replayWebhook,
  UtcTime,
  type Webhook,
} from '../../shared/features/webhooks/public.ts';
import { type AdminCommand, as } from './command.ts';

const fields = [
  'id',
  'client_id',
  'user_id',
  'address',
  'types',
  'entity_id',
  'author_id',
  'created',
  'state',
  'off_reason',
  'failures',
  'failing_since',
  'retry_at',
  'stuck',
] as const;

export function addWebhookCommands(admin: AdminCommand): void {
  const webhook = admin.command('webhook').description('webhooks of applications');

  webhook
    .command('list')
    .description('lists all webhooks, without their secrets')
    .answer(async () => {
      const webhooks = await listWebhooks();
      return { webhooks: webhooks.map(fieldsOf) };
    });

  webhook
    .command('show')
    .description('shows a webhook, its last messages, and how much lies ahead of it')
    .argument('<webhook id>', 'the webhook', as(Uuid))
    .answer(present);

  webhook
    .command('pause')
    .description('stops a webhook until its owner continues it; nothing is lost for 30 days')
    .argument('<webhook id>', 'the webhook', as(Uuid))
    .answer(async (id: string) => {
      await pauseWebhook(await getWebhook(id));
      return present(id);
    });

  webhook
    .command('replay')
    .description('sends everything again that has changed since a time of the last 30 days')
    .argument('<webhook id>', 'the webhook', as(Uuid))
    .required('--from <time>', 'in UTC, such as "2026-01-31 12:00"', UtcTime)
    .answer(async (id: string, { from }: { from: number }) => {
      await replayWebhook(await getWebhook(id), from);
      return present(id);
    });
}

async function getWebhook(id: string): Promise<Webhook> {
  const webhook = (await listWebhooks()).find((each) => each.id === id);
  if (!webhook) throw notFound('Webhook');
  return webhook;
}

/** All fields, null where there is none. */
function fieldsOf(webhook: Webhook) {
  return Object.fromEntries(fields.map((name) => [name, webhook[name] ?? null]));
}

async function present(id: string) {
  const webhook = await getWebhook(id);
  const ahead = await countAhead(webhook);
  return {
    ...fieldsOf(webhook),
    attempts: webhook.attempts,
    reviews_ahead: ahead?.count ?? null,
    has_more_ahead: ahead?.isMore ?? null,
  };
}
