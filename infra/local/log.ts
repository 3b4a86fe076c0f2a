import { inspect, styleText } from 'node:util';
import type { DescribedError } from '../../shared/describe-error.ts';
import { stage, version } from '../../shared/routes.ts';

/** A request that is over, for a log. */
export interface Served {
  method: string;
  /** As sent, below the origin and the path of the public address. */
  url: string;
  /**
   * The path of the route, such as `/ws/1/user/{user_id}`, or of a mount; absent where there is
   * none.
   */
  route?: string;
  /** Undefined where the client did not wait for it. */
  status: number | undefined;
  milliseconds: number;
  requestId: string;
  roundTrips: number;
  /** By the access token; or the application alone, by the parameters of an OAuth endpoint. */
  user?: string;
  application?: string;
}

/** One line for a request: method, path, status, milliseconds, and who it was for. Verbose, also round trips to the database and the request id. */
export function requestLine(served: Served, isVerbose: boolean): string {
  const { method, status = 0, milliseconds, user, application, roundTrips, requestId } = served;
  const colour = status >= 500 || status === 0 ? 'red' : status >= 400 ? 'yellow' : 'green';
  const who = [user && `user ${user}`, application && `application ${application}`];
  const trips = `${roundTrips} round trip${roundTrips === 1 ? '' : 's'}`;
  const more = isVerbose && [trips, `request ${requestId}`];
  return [
    styleText('bold', method),
    shown(served),
    styleText(colour, status === 0 ? 'gone' : `${status}`),
    `${Math.ceil(milliseconds)} ms`,
    ...[...who, ...(more || [])].map((part) => part && styleText('dim', part)),
  ]
    .filter(Boolean)
    .join(' ');
}

/**
 * The path, with the query where it says what was asked for. Queries of pages hold codes, and
 * clients put secrets into those of OAuth.
 */
function shown({ url }: Served): string {
  const path = url.replace(/\?.*/, '');
  return path.startsWith(`/${stage}${version}/`) && !path.includes('/oauth/') ? url : path;
}

/**
 * The same for programs, as JSON: it names no person, and holds nothing that a client has sent but
 * the method.
 */
export function jsonLine({ method, route, status, milliseconds, requestId }: Served): string {
  return JSON.stringify({
    time: new Date().toISOString(),
    method,
    route: route ?? null,
    status: status ?? null,
    ms: Math.ceil(milliseconds),
    request_id: requestId,
  });
}

/** The first line of such a log. */
export function startedLine(url: string): string {
  return JSON.stringify({ time: new Date().toISOString(), message: 'started', url });
}

/** What a function logs, an object as CloudWatch has it, as text: the places of an error stand on lines of their own. */
export function readable(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null || !('message' in entry)) return entry;
  if (entry instanceof Error) return entry;
  const { message, error, ...rest } = entry as { message: string; error?: string | DescribedError };
  const details = Object.entries(rest).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : inspect(value)}`,
  );
  const cause = typeof error === 'object' ? described(error) : (error ?? '');
  return [[message, ...details].join(', '), cause].filter(Boolean).join('\n  ');
}

function described({ name, code, message, stack = [], cause }: DescribedError): string {
  const places = stack.map((place) => `\n    ${place}`).join('');
  const before = cause ? `\n  caused by ${described(cause)}` : '';
  return `${[name, code, message].filter(Boolean).join(': ')}${places}${before}`;
}
