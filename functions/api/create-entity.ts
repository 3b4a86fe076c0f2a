import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { invalidRequest, invalidToken } from '../../shared/base/errors.ts';
import { type EntityType, entityGroups } from '../../shared/core/entity/entity-type.ts';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { answerOnce, IdempotencyKey } from '../../shared/core/http/idempotency.ts';
import { bodyOf, Caller } from '../../shared/core/http/request.ts';
import { processed } from '../../shared/core/http/response.ts';
import { findUser } from '../../shared/core/user/user-repository.ts';
import { addEntity, namingFields } from '../../shared/features/names/public.ts';
import { findMeant } from '../../shared/features/things/public.ts';

export { CreatedEntity as response } from '../../shared/core/entity/presented.ts';

const ownTypes = entityGroups.get('own') ?? [];
const { name, about, url } = namingFields;

export const request = v.object({
  caller: Caller,
  idempotency_key: IdempotencyKey,
  body: bodyOf({
    entity_type: v.string('must be a string'),
    name,
    about: v.nullish(about, ''),
    url: v.nullish(url, ''),
  }),
});

export const docs = {
  tag: 'Entities',
  summary: 'Add an entity',
  description:
    'Adds something of a type of this service. If one has this name, and this line if you send one, the answer has its id. Counts as an edit. The name waits if reviews of the account do.',
  fields: {
    entity_type: 'A type of this service',
    name: 'Its name',
    about: 'A line that tells it from others of its name, such as artist or author, year and place',
    url: 'Its page for people',
  },
  example: { entity_type: 'film', name: 'Metropolis' },
  errors: {
    access_denied: 'A moderator has blocked the account.',
    limit_exceeded: 'The daily limit of edits or names is reached.',
    invalid_request: 'A field is not valid, or several have this name: send `about`.',
  },
} satisfies Docs<typeof request>;

/** Throws ApiError 400 unless it is a type of this service. */
function requireOwn(type: string): EntityType {
  const own = ownTypes.find((each) => each === type);
  if (own) return own;
  const all = ownTypes.length > 0 ? `one of ${ownTypes.join(', ')}` : 'of this service';
  throw invalidRequest(`entity_type must be ${all}`);
}

export const handler = endpoint(request, async ({ caller, idempotency_key: key, body }) => {
  const { entity_type: type, ...naming } = body;
  const entity_type = requireOwn(type);
  const answer: { message: string; id: string } = { ...processed, id: randomUUID() };
  return answerOnce(
    { user_id: caller.user_id, key, request: ['create-entity', body] },
    answer,
    async (record) => {
      // In here, because a repetition has its first answer, whatever has this name since.
      const existing = await findMeant(entity_type, naming);
      if (existing) {
        answer.id = existing.entity_id;
        return { isRepeated: true };
      }
      const namer = await findUser(caller.user_id);
      if (!namer) throw invalidToken();
      await addEntity({ entity_id: answer.id, entity_type }, naming, namer, record);
      return {};
    },
  );
});
