import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { readPairs } from '../../shared/http/form.ts';
import { type Match, resourceOf } from '../../shared/http/match-route.ts';
import { gatewayEvent } from './gateway-event.ts';
import { type Arrival, arrivalOf, type PublicAddress } from './public-address.ts';

/**
 * Returns the event of Lambda proxy integration. `path` is the path below the stage, as sent;
 * `query` has no question mark. Without a match the resource is `/{proxy+}`. Throws a URIError if
 * the path is not validly encoded.
 */
export function proxyEvent(
  request: IncomingMessage,
  {
    requestId,
    path,
    query,
    match,
    address,
  }: { requestId: string; path: string; query: string; match?: Match; address?: PublicAddress },
): APIGatewayProxyEvent {
  const method = request.method ?? 'GET';
  const rest = path.replace(/^\/+/, '');
  const proxied = rest === '' ? '/' : '/{proxy+}';
  const resource = match ? resourceOf(match.route) : proxied;
  const params = Object.entries(match?.params ?? (rest === '' ? {} : { proxy: rest }));
  const arrival = arrivalOf(request, address);
  return gatewayEvent({
    method,
    resource,
    path,
    headers: headersOf(request, arrival),
    query: readPairs(query),
    pathParameters: Object.fromEntries(
      params.map(([name, value]) => [name, decodeURIComponent(value)]),
    ),
    requestId,
    domainName: arrival.hostname,
    sourceIp: arrival.client,
    protocol: `HTTP/${request.httpVersion}`,
  });
}

/**
 * Returns the headers with their names as sent. The X-Forwarded headers are set here, as by API
 * Gateway.
 */
function headersOf(request: IncomingMessage, arrival: Arrival): [string, string][] {
  const sent = request.rawHeaders.flatMap((name, i, all) =>
    i % 2 === 0 && !/^x-forwarded-(for|port|proto)$/i.test(name) ? [[name, all[i + 1] ?? '']] : [],
  ) as [string, string][];
  return [
    ...sent,
    ['X-Forwarded-For', arrival.forwardedFor],
    ['X-Forwarded-Port', arrival.port],
    ['X-Forwarded-Proto', arrival.protocol],
  ];
}
