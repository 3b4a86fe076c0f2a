/** The ids of a request in `event.requestContext`. */
export interface RequestIds {
  /** The id in `x-amzn-RequestId`. A client may choose it. */
  requestId: string;
  /** The id in `x-amz-apigw-id`, which API Gateway always makes. A server repeats `requestId`. */
  extendedRequestId?: string;
}

/** Returns the fields of a log line that lead to the request's line in the access log. */
export function loggedIds({ requestId, extendedRequestId }: RequestIds): Record<string, string> {
  const ids: Record<string, string> = { requestId };
  if (extendedRequestId !== undefined && extendedRequestId !== requestId) {
    ids.extendedRequestId = extendedRequestId;
  }
  // Lambda sets this variable before each call: `Root=<trace id>;Parent=…;Sampled=…`.
  const trace = /\bRoot=([\w-]+)/.exec(process.env._X_AMZN_TRACE_ID ?? '')?.[1];
  if (trace !== undefined) ids.trace = trace;
  return ids;
}
