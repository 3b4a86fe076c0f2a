import type { TestResponse } from './invoke.ts';

/** Calls an endpoint. A string is sent as it is, everything else as JSON. */
export type Call = (method: string, path: string, body?: unknown) => Promise<ApiResponse>;

/** A response of the API. */
type ApiResponse = Pick<TestResponse, 'status' | 'body'> & { headers: Headers };

/** Returns a client of the API at `url`, with an access token or anonymous. */
export function callerOf(url: string, token?: string): Call {
  return async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const { status, headers } = response;
    return { status, headers, body: await response.json() };
  };
}
