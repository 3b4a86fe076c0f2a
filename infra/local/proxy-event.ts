import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type Match, resourceOf } from '../../shared/http/match-route.ts';
import { readPairs } from '../../shared/http/pairs.ts';
import { gatewayEvent } from './gateway-event.ts';

/**
 * The event of Lambda proxy integration for `path`, below the stage and as sent, and `query`, without its question mark. No
 * match is the resource `/{proxy+}`, which catches all. Throws a URIError if the path is not validly encoded.
 */
export function proxyEvent(
  request: IncomingMessage,
  {
    requestId,
    path,
    query,
    match,
  }: { requestId: string; path: string; query: string; match?: Match },
): APIGatewayProxyEvent {
  const method = request.method ?? 'GET';
  const rest = path.replace(/^\/+/, '');
  const proxied = rest === '' ? '/' : '/{proxy+}';
  const resource = match ? resourceOf(match.route) : proxied;
  const params = Object.entries(match?.params ?? (rest === '' ? {} : { proxy: rest }));
  const host = request.headers.host ?? 'localhost';
  return gatewayEvent({
    method,
    resource,
    path,
    headers: headersOf(request),
    query: readPairs(query),
    pathParameters: Object.fromEntries(
      params.map(([name, value]) => [name, decodeURIComponent(value)]),
    ),
    requestId,
    domainName: host.replace(/:\d+$/, ''),
    sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
    protocol: `HTTP/${request.httpVersion}`,
  });
}

/** Names keep the case in which they were sent. The X-Forwarded headers are API Gateway's own word. */
function headersOf(request: IncomingMessage): [string, string][] {
  const sent = request.rawHeaders.flatMap((name, i, all) =>
    i % 2 === 0 && !/^x-forwarded-(for|port|proto)$/i.test(name) ? [[name, all[i + 1] ?? '']] : [],
  ) as [string, string][];
  const { remoteAddress = '127.0.0.1', localPort } = request.socket;
  const forwarded = [request.headers['x-forwarded-for'] ?? [], remoteAddress].flat();
  return [
    ...sent,
    ['X-Forwarded-For', forwarded.join(', ')],
    ['X-Forwarded-Port', `${localPort}`],
    ['X-Forwarded-Proto', 'http'],
  ];
}
