import type { APIGatewayProxyResult } from 'aws-lambda';
import type * as v from 'valibot';
import { listHeaderOf, partsOf, type RequestSchema, readRequest } from '../http/read-request.ts';
import { Answer, brieflyShared, publicAnswer } from '../http/response.ts';
import { browserHandler } from './error-page.ts';
import { respond } from './html-response.ts';
import type { Page } from './layout.ts';

/**
 * Makes a Lambda handler for a page that is the same for everybody, with an ETag. Caches keep it as
 * long as a list.
 *
 * @example
 * export const handler = publicPage(request, async ({ path: { user_id } }) => {
 *   const { display_name } = await getUser(user_id);
 *   return { title: display_name, content: html`<p>Reviews by ${display_name}</p>` };
 * });
 */
export function publicPage<T extends RequestSchema>(
  schema: T,
  handle: (request: v.InferOutput<T>) => Promise<Page> | Page,
) {
  return publicDocument(schema, async (request) => respond(await handle(request)));
}

/** Makes a Lambda handler like `publicPage`, for an HTML document without the frame of a page. */
export function publicDocument<T extends RequestSchema>(
  schema: T,
  handle: (request: v.InferOutput<T>) => Promise<Pick<APIGatewayProxyResult, 'headers' | 'body'>>,
) {
  return browserHandler(async (event) => {
    const { headers, body } = await handle(readRequest(schema, partsOf(event)));
    const { 'Content-Type': type, ...others } = headers as Record<string, string>;
    const answer = new Answer(body, {
      type,
      headers: { ...others, 'Cache-Control': brieflyShared, Vary: 'Accept-Encoding' },
    });
    return publicAnswer(answer, listHeaderOf(event, 'if-none-match'));
  });
}
