import { inspect, styleText } from 'node:util';
import type { DescribedError } from '../../../shared/base/describe-error.ts';
import { stage, version } from '../../../shared/base/routes.ts';
import { allowedMethods, matchRoute, resourceOf } from '../../../shared/core/http/match-route.ts';

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
  /** From the access token. An OAuth endpoint knows the application only, from its parameters. */
  user?: string;
  application?: string;
}

/** Returns the log line of a request, if verbose with its id. */
export function requestLine(served: Served, isVerbose: boolean): string {
  const { method, status = 0, milliseconds, user, application, requestId } = served;
  const details = [
    user && `user ${user}`,
    application && `application ${application}`,
    isVerbose && `request ${requestId}`,
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

/**
 * Keeps addresses of the API only. Those of pages contain codes, and tokens of links in mails.
 * Queries of OAuth may have secrets.
 */
function shown({ url, route }: Served) {
  const path = url.replace(/\?.*/, '');
  if (!path.startsWith(`/${stage}${version}/`)) return route ?? withoutToken(path);
  return path.includes('/oauth/') ? path : url;
}

/** The path of a page, also for a method that it does not take. */
function withoutToken(path: string) {
  const page = path.slice(`/${stage}`.length);
  const [method = ''] = allowedMethods(page);
  const match = matchRoute(method, page);
  return match ? `/${stage}${resourceOf(match.route)}` : path;
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
