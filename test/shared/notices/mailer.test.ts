import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { MailError, makeMailer } from '../../../shared/notices/mailer.ts';
import { type ReceivedMail, startMailServer } from '../../helpers/mail-server.ts';

const mail = { to: 'ann@example.org', subject: 'News', text: 'Hello', html: '<p>Hello</p>' };
const from = 'reviews@example.org';

interface Sent {
  path: string;
  FromEmailAddress: string;
  Destination: { ToAddresses: string[] };
  Content: { Raw: { Data: string } };
}

/** Answers of Amazon SES: a status and the name of an error. */
let answer: [status: number, error?: string] = [200];
const sent: Sent[] = [];
const ses = createServer(async (request, response) => {
  sent.push({ path: request.url, ...JSON.parse(await text(request)) });
  const [status, error] = answer;
  if (error) response.setHeader('x-amzn-errortype', error);
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(error ? { message: 'No' } : { MessageId: 'x' }));
});

beforeAll(async () => {
  process.env.SITE_NAME = 'Films <e@x.org>, "A"\r\nBcc: e@x.org';
  await new Promise<void>((resolve) => ses.listen(0, '127.0.0.1', resolve));
  const { port } = ses.address() as AddressInfo;
  process.env.AWS_ENDPOINT_URL_SESV2 = `http://127.0.0.1:${port}`;
});
afterAll(() => new Promise((resolve) => ses.close(resolve)));

test('without a server of its own, a service sends raw mails by Amazon SES', async () => {
  const headers = { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
  await makeMailer({ from })({ ...mail, headers });
  const [{ path, Destination, Content, FromEmailAddress }] = sent as [Sent];
  expect([path, Destination.ToAddresses]).toEqual(['/v2/email/outbound-emails', [mail.to]]);
  expect(FromEmailAddress).toContain(from);
  const raw = Buffer.from(Content.Raw.Data, 'base64').toString();
  expect(raw).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n');
  expect(raw).toContain('<p>Hello</p>');
});

test.each([
  [400, 'MessageRejected', 'refused'],
  [400, 'BadRequestException', 'refused'],
  [400, 'SendingPausedException', 'failed'],
  [429, 'TooManyRequestsException', 'failed'],
  [403, 'AccessDeniedException', 'failed'],
])('an answer %d %s of Amazon SES means %s', async (status, error, outcome) => {
  answer = [status, error];
  await expect(makeMailer({ from })(mail)).rejects.toMatchObject({ outcome });
});

test.each([
  ['an address with a line break', { to: 'ann@example.org\r\nBcc: eve@example.org' }],
  ['a list of addresses', { to: 'ann@example.org, eve@example.org' }],
  ['a subject with a line break', { subject: 'News\r\nBcc: eve@example.org' }],
  [
    'a header with a line break',
    { headers: { 'List-Unsubscribe': '<x>\r\nBcc: eve@example.org' } },
  ],
])('%s reaches nobody else', async (_, change) => {
  const server = await startMailServer();
  await makeMailer({ url: server.url, from })({ ...mail, ...change }).catch((error) => {
    expect(error).toBeInstanceOf(MailError);
  });
  expect(server.inbox.flatMap(({ to }) => to)).not.toContain('eve@example.org');
  expect(server.inbox.flatMap(({ headers }) => Object.keys(headers))).not.toContain('bcc');
  await server.stop();
});

test('the name of the site is one name in the sender, whatever is in it', async () => {
  const server = await startMailServer();
  await makeMailer({ url: server.url, from })(mail);
  const [{ headers }] = server.inbox as [ReceivedMail];
  expect(headers.from).toBe(`"Films <e@x.org>, \\"A\\" Bcc: e@x.org" <${from}>`);
  expect(headers).not.toHaveProperty('bcc');
  await server.stop();
});
