import {
  CaseMessage,
  EntityMessage,
  messageTypes,
  PersonMessage,
  RestartMessage,
  ReviewMessage,
  TestMessage,
  type WebhookMessage,
} from '../../shared/features/webhooks/public.ts';
import { exampleOf, jsonSchemaOf } from './schemas.ts';

// The messages of webhooks in the OpenAPI document, as requests to a receiver.

type MessageType = WebhookMessage['type'];

/** Occasions of each message, in the order of the document. */
const summaries: Readonly<Record<MessageType, string>> = {
  'review.published': 'A review is published, or public again',
  'review.edited': 'The text or rating of a review changes',
  'review.voted': 'The votes on a review change',
  'review.removed': 'A review is deleted or hidden',
  'access.revoked': 'A person revokes the access of your application',
  'user.deleted': 'A person who uses your application deletes the account',
  'entity.edited': 'The name of an entity changes, or what else is known of it',
  'case.opened': 'A review or a name waits for moderators. Only moderators can choose this',
  'log.restarted': 'Changes were lost to you: read all reviews again',
  'webhook.test': 'A test of the receiver, which answers the challenge',
};

const header = (name: string, description: string, example: string | number) => ({
  name,
  in: 'header',
  description,
  required: true,
  // Seconds since 1970 exceed 32 bits in 2038.
  schema: typeof example === 'number' ? { type: 'integer', format: 'int64' } : { type: 'string' },
  example,
});

const headers = [
  header(
    'webhook-id',
    'The id of the message, the same for each attempt. It never names two messages',
    'rev_2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11_1795325400123',
  ),
  header('webhook-timestamp', 'The time of this attempt, in seconds since 1970', 1_795_325_401),
  header(
    'webhook-signature',
    'Signatures of the message by each valid secret (HMAC-SHA256), separated by spaces',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ),
];

/** Describes the requests that receivers of webhooks get, by type of message. */
export function webhooks() {
  return Object.fromEntries(
    (Object.keys(summaries) as MessageType[]).map((type) => [type, { post: operationOf(type) }]),
  );
}

function operationOf(type: MessageType) {
  const schema = schemaOf(type);
  return {
    operationId: `receive${type.replaceAll(/(?:^|\.)(.)/g, (_, letter: string) => letter.toUpperCase())}`,
    tags: ['Webhooks'],
    summary: summaries[type],
    description: isChosen(type) ? undefined : 'Every webhook gets this message.',
    security: [],
    parameters: headers,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: jsonSchemaOf(schema), example: messageOf(type) } },
    },
    responses: {
      '2XX': taken(type),
      410: { description: 'Turns the webhook off' },
      default: {
        description:
          'A failure, as is no answer within 15 seconds. The message is repeated for five days, first after a minute. `Retry-After` asks for a longer wait',
      },
    },
  };
}

const isChosen = (type: MessageType) => (messageTypes as readonly string[]).includes(type);

function taken(type: MessageType) {
  if (type !== 'webhook.test') return { description: 'The message is taken. The body is not read' };
  const { challenge } = messageOf(type).data as { challenge: string };
  return {
    description: 'The challenge, as text, as JSON, or as the field `challenge` of a JSON object',
    content: {
      'text/plain': { schema: { type: 'string' }, example: challenge },
      'application/json': { schema: {}, example: { challenge } },
    },
  };
}

function schemaOf(type: MessageType) {
  if (type === 'log.restarted') return RestartMessage;
  if (type === 'webhook.test') return TestMessage;
  if (type === 'entity.edited') return EntityMessage;
  if (type === 'case.opened') return CaseMessage;
  return type.startsWith('review.') ? ReviewMessage : PersonMessage;
}

/** Returns an example of the message. A removed review is null. */
function messageOf(type: MessageType): WebhookMessage {
  const example = exampleOf(schemaOf(type)) as WebhookMessage;
  const data = type === 'review.removed' ? { ...example.data, review: null } : example.data;
  return { ...example, type, data } as WebhookMessage;
}
