import { once } from 'node:events';
import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';

/** Headers by which a client can pose as a proxy. */
const spoofed = {
  'X-Forwarded-Proto': 'https',
  'X-Forwarded-Host': 'evil.example',
  'X-Forwarded-For': '127.0.0.1',
  'X-Forwarded-Port': '443',
  Forwarded: 'for=127.0.0.1;proto=https;host=evil.example',
};

/** An address of this machine outside loopback. The service does not trust its requests. */
const stranger = Object.values(networkInterfaces())
  .flat()
  .find((each) => each && !each.internal && each.family === 'IPv4')?.address;
const testWithStranger = stranger ? test : test.skip;

/**
 * Defines the tests of plain HTTP. The service listens at `local` behind a proxy, and clients know
 * it as `issuer`.
 */
export function describePlainHttp(local: string, issuer: string): void {
  async function ask(method: string, path: string, sent: object, localAddress?: string) {
    const headers = { Host: 'evil.example', ...sent };
    const asked = request(local + path, { method, family: 4, localAddress, headers });
    asked.end();
    const [answer] = await once(asked, 'response');
    const body = await text(answer);
    expect(body).not.toContain('evil.example');
    return { status: answer.statusCode as number, body };
  }

  async function expectRefusals(headers: object, localAddress?: string): Promise<void> {
    const paths = ['/oauth/authorize', '/1/oauth/token', '/1/oauth/revoke', '/account'];
    for (const path of paths) {
      const method = path.startsWith('/1/') ? 'POST' : 'GET';
      const { status, body } = await ask(method, path, headers, localAddress);
      expect([path, status]).toEqual([path, 400]);
      expect(body).toContain('HTTPS only');
    }
    const metadata = '/.well-known/oauth-authorization-server';
    const { body } = await ask('GET', metadata, headers, localAddress);
    expect(JSON.parse(body)).toHaveProperty('issuer', issuer);
  }

  describe('plain HTTP', () => {
    test('is refused if HTTPS is required', () => expectRefusals({}));

    testWithStranger('is refused whatever a stranger forwards', () =>
      expectRefusals(spoofed, stranger),
    );

    test('is accepted from a proxy that received HTTPS', async () => {
      const { status, body } = await ask('GET', '/oauth/authorize', spoofed);
      expect(status).toBe(400);
      expect(body).not.toContain('HTTPS only');
    });
  });
}
