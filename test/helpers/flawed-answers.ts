import type { ServerResponse } from 'node:http';

/** Makes a minute half a second in the service, so that its jobs run often. */
const shortMinute = `const { setInterval: real } = globalThis;
globalThis.setInterval = (run, time, ...rest) => real(run, time === 60_000 ? 500 : time, ...rest);`;

/** The option of Node.js for a service with short minutes. */
export const hurriedNode = `--import=data:text/javascript,${encodeURIComponent(shortMinute)}`;

/** Ways in which receivers of webhooks answer. */
export const answers: Record<string, (response: ServerResponse, challenge: string) => unknown> = {
  200: (response, challenge) => response.end(challenge),
  500: (response) => response.writeHead(500).end(),
  410: (response) => response.writeHead(410).end(),
  429: (response) => response.writeHead(429, { 'Retry-After': '28800' }).end(),
  redirect: (response) => response.writeHead(307, { Location: '/' }).end(),
  reset: (response) => response.socket?.resetAndDestroy(),
  hang: () => {},
  drip: (response) => {
    const timer = setInterval(() => response.write(' '), 1000);
    response.on('close', () => clearInterval(timer));
  },
};

/** Flawed answers, without those that take 15 seconds. */
export const quickFlaws = ['500', '410', '429', 'redirect', 'reset'];
