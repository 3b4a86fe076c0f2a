// Schemas for the parts of a request, of which endpoints and pages make theirs.
import * as v from 'valibot';
import { oneOf, Uuid } from '../../base/values.ts';

/** The user and application that an access token acts for, from the authorizer. */
export const Caller = v.object({
  user_id: v.string(),
  client_id: v.string(),
  /** Granted scopes, separated by spaces. */
  scope: v.string(),
});
export type Caller = v.InferOutput<typeof Caller>;

/** A JSON object. Fields other than these are ignored. */
export function bodyOf<T extends v.ObjectEntries>(entries: T) {
  return v.pipe(
    v.custom<Record<string, unknown>>(
      (body) => typeof body === 'object' && body !== null && !Array.isArray(body),
      'must be a JSON object',
    ),
    v.object(entries),
  );
}

/** An optional body field. Null counts as absent. */
export function optional<T extends v.GenericSchema>(schema: T) {
  return v.nullish(schema, () => undefined);
}

/** A parameter that is a decimal integer from `min` to `max`, or to the largest exact number. */
export function IntegerParameter(min: number, max?: number) {
  const largest = max ?? Number.MAX_SAFE_INTEGER;
  const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  const message = `must be an integer ${range}`;
  return v.pipe(
    v.string(message),
    v.regex(/^\d+$/, message),
    // For the API's description: the text holds a number.
    v.metadata({ type: 'integer', pattern: undefined, minimum: min, maximum: largest }),
    v.transform(Number),
    v.minValue(min, message),
    v.maxValue(largest, max === undefined ? `must be at most ${largest}` : message),
  );
}

/** An optional parameter that comes from an earlier answer. The endpoint reads it. */
export function CursorParameter() {
  return v.optional(v.pipe(v.string(), v.nonEmpty('must be a cursor from an earlier answer')));
}

/** An optional parameter that is `true` or `false`, by default `false`. */
export function Flag() {
  return v.optional(
    v.pipe(
      oneOf(['true', 'false']),
      // For the API's description: a boolean is sent as the same bytes.
      v.metadata({ type: 'boolean', enum: undefined }),
    ),
    'false',
  );
}

/**
 * A path parameter that holds a UUID. Anything else is 404 `<what> not found`.
 * @example
 *   export const request = v.object({ path: v.object({ entity_id: PathId('Entity') }) });
 */
export function PathId(what: string) {
  return PathParameter(what, Uuid);
}

/** A path parameter of another schema; otherwise like `PathId`. */
export function PathParameter<T extends v.GenericSchema>(what: string, schema: T) {
  return v.pipe(
    v.custom<v.InferInput<T>>((value) => v.is(schema, value), what),
    schema,
  );
}

/** Paths with an id. The marks keep them out of the bundles of other endpoints. */
export const ReviewPath = /* @__PURE__ */ v.object({
  review_id: /* @__PURE__ */ PathId('Review'),
});
export const EntityPath = /* @__PURE__ */ v.object({
  entity_id: /* @__PURE__ */ PathId('Entity'),
});
export const UserPath = /* @__PURE__ */ v.object({ user_id: /* @__PURE__ */ PathId('User') });

/** `limit` and `offset` of a list: up to 50 items. With limit 0 the answer holds only the count. */
export const pageParameters = {
  limit: v.optional(IntegerParameter(0, 50), '50'),
  offset: v.optional(IntegerParameter(0), '0'),
};
