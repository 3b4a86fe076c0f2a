import * as v from 'valibot';
import { described, Id } from '../described.ts';

const message = described(v.string(), 'A confirmation', 'Request processed successfully');

export const Processed = described(v.object({ message }), 'It is done');

export const Created = described(
  v.object({ message, id: Id('The new review', '2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11') }),
  'It is saved',
);

export const Changed = described(
  v.object({
    message,
    review: described(
      v.object({ id: Id('The review', '2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11') }),
      'The changed review',
    ),
  }),
  'It is changed',
);

const request_id = v.optional(
  described(v.string(), 'Name it when you report the error; from status 500 on'),
);

/** The error of all endpoints except OAuth. */
export const ErrorBody = described(
  v.object({
    error: described(v.string(), 'A code that does not change', 'invalid_request'),
    description: described(
      v.string(),
      'The problem, for developers. Its wording may change',
      'rating must be an integer from 1 to 5',
    ),
    request_id,
  }),
  'An error',
);

/** The error of the OAuth endpoints (RFC 6749 section 5.2). */
export const OAuthErrorBody = described(
  v.object({
    error: described(v.string(), 'A code of RFC 6749', 'invalid_grant'),
    error_description: described(
      v.string(),
      'The problem, for developers. Its wording may change',
      'redirect_uri must be exactly the registered one',
    ),
    request_id,
  }),
  'An error in the words of RFC 6749',
);

export const OpenApi = described(
  v.looseObject({
    openapi: described(v.string(), 'The version of OpenAPI', '3.1.1'),
    info: described(v.looseObject({}), 'The service', { title: 'Review service', version: '1' }),
    paths: described(v.looseObject({}), 'The endpoints', {}),
  }),
  'An OpenAPI document',
);
