import { inspect, styleText } from 'node:util';
import type { DescribedError } from '../../shared/describe-error.ts';
import { stage, version } from '../../shared/routes.ts';

/** A finished request, for the log. */
export interface Served {
  method: string;
  /** As sent, below the origin and the path of the public address. */
  url: string;
  /** The path pattern of the matching route, such as `/ws/1/user/{user_id}`, or of a mount. */
  route?: string;
  /** Absent if the client closed the connection before the response. */
  status?: number;
  milliseconds: number;
  requestId: string;
  roundTrips: number;
  /** From the access token. An OAuth endpoint knows the application only, from its parameters. */
  user?: string;
  application?: string;
}

/** Returns the log line of a request, if verbose with round trips to the database and its id. */
export function requestLine(served: Served, isVerbose: boolean): string {
  const { method, status = 0, milliseconds, user, application, roundTrips, requestId } = served;
  const trips = `${roundTrips} round trip${roundTrips === 1 ? '' : 's'}`;
  const details = [
    user && `user ${user}`,
    application && `application ${application}`,
    ...(isVerbose ? [trips, `request ${requestId}`] : []),
  ];
  return [
    styleText('bold', method),
    shown(served),
    styleText(colourOf(status), status === 0 ? 'gone' : `${status}`),
    `${Math.ceil(milliseconds)} ms`,
    ...details.flatMap((part) => (part ? [styleText('dim', part)] : [])),
  ].join(' ');
}

function colourOf(status: number) {
  if (status >= 500 || status === 0) return 'red';
  return status >= 400 ? 'yellow' : 'green';
}

/** Keeps queries of the API only. Those of pages contain codes, those of OAuth may have secrets. */
function shown({ url }: Served) {
  const path = url.replace(/\?.*/, '');
  return path.startsWith(`/${stage}${version}/`) && !path.includes('/oauth/') ? url : path;
}

/** Returns the line as JSON, without persons and, except for the method, the client's data. */
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

/** Turns an entry that a function logs as an object, for CloudWatch, into lines of text. */
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
