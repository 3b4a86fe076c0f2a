// Responses that several endpoints share, as the API describes them.
import * as v from 'valibot';
import { AnyText, described, Fields, Id, OpenCode } from '../../base/described.ts';
import { errorCodes, oauthErrorCodes } from './error-codes.ts';

const id = '2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11';
const message = AnyText('A confirmation', 'Request processed successfully');

export const Processed = Fields('It is done', { message });

export const Created = Fields('It is saved', {
  message,
  id: Id('The new review', id),
});

export const Changed = Fields('It is changed', {
  message,
  review: Fields('The changed review', { id: Id('The review', id) }),
});

const problem = 'The problem, for developers. Its wording may change';
const request_id = v.optional(AnyText('Name it when you report the error; from status 500 on'));

/** The error of all endpoints except OAuth. */
export const ErrorBody = Fields('An error', {
  error: OpenCode('A code that does not change. There may be more codes some day', errorCodes),
  description: AnyText(problem, 'rating must be an integer from 1 to 5'),
  request_id,
});

/** The error of the OAuth endpoints (RFC 6749 section 5.2). */
export const OAuthErrorBody = Fields('An error in the words of RFC 6749', {
  error: OpenCode(
    'A code of RFC 6749, or another one that does not change. There may be more some day',
    oauthErrorCodes,
  ),
  error_description: AnyText(problem, 'redirect_uri must be exactly the registered one'),
  request_id,
});

export const OpenApi = described(
  v.looseObject({
    openapi: AnyText('The version of OpenAPI', '3.1.1'),
    info: described(v.looseObject({}), 'The service', {
      title: 'Review service',
      version: '1.0.0',
    }),
    paths: described(v.looseObject({}), 'The endpoints', {}),
  }),
  'An OpenAPI document',
);
