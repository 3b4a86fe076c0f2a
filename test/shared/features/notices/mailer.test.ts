import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { text } from 'node:stream/consumers';
import { mailFault, noteMailTaken } from '../../../../shared/core/user/mail-fault.ts';
import {
  checkMailServer,
  MailError,
  makeMailer,
} from '../../../../shared/features/notices/mailer.ts';
import { silence } from '../../../helpers/console.ts';
import { type ReceivedMail, refusal, startMailServer } from '../../../helpers/mail-server.ts';

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

test('names itself by the host of the service, if its machine has no full name', async () => {
  const server = await startMailServer();
  await makeMailer({ url: server.url, from })(mail);
  const [{ client }] = server.inbox as [ReceivedMail];
  expect(client).toBe(hostname().includes('.') ? hostname() : 'api.example');
  await server.stop();
});

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

describe('a mail server', () => {
  // Its library warns about the certificate of the tests.
  beforeEach(() => void silence('error'));

  test('on this machine that offers TLS with its own certificate takes mails', async () => {
    const server = await startMailServer({ offersTls: true, password: 'p' });
    const url = server.url.replace('//', '//reviews:p@');
    await makeMailer({ url, from })(mail);
    expect(server.inbox).toHaveLength(1);
    await server.stop();
  });

  /** An address of this machine for which TLS is demanded, as for that of any other machine. */
  const elsewhere = (url: string) => url.replace(/(127\.0\.0\.1|localhost)/, '[::ffff:127.0.0.1]');

  test.each<[string, Parameters<typeof startMailServer>[0], (url: string) => string, string]>([
    ['that is down', {}, () => 'smtp://127.0.0.1:9', 'nothing listens at its address'],
    ['without a name', {}, () => 'smtp://mail.invalid', 'its host name'],
    ['with an unknown certificate', { offersTls: true }, elsewhere, 'its certificate'],
    ['elsewhere without TLS', {}, elsewhere, 'it offers no TLS'],
    [
      'asked by a wrong scheme',
      {},
      (url) => url.replace('smtp:', 'smtps:'),
      'it begins without TLS there, so write smtp:// in SMTP_URL',
    ],
    [
      'asked with a wrong password',
      { password: 'p' },
      (url) => url.replace('//', '//reviews:wrong@'),
      'it refuses the user or the password in SMTP_URL',
    ],
  ])('%s says why it takes nothing', async (_, options, address, cause) => {
    const server = await startMailServer(options);
    const url = address(server.url);
    const errors = await Promise.all([
      checkMailServer({ url, from }).catch((error) => error),
      makeMailer({ url, from })(mail).catch((error) => error),
    ]);
    for (const error of errors) {
      expect(error).toBeInstanceOf(MailError);
      expect(error.outcome).toBe('failed');
      expect(error.message).toContain(cause);
      expect(error.message).not.toMatch(/wrong@|127\.0|invalid|example/);
    }
    await server.stop();
  });

  test('is at fault from the second failure on, until it takes a mail', async () => {
    noteMailTaken();
    const server = await startMailServer();
    const send = makeMailer({ url: server.url, from });
    const attempt = () => send(mail).catch(() => {});
    server.behaviour.onRecipient = () => {
      throw refusal(421);
    };
    await attempt();
    expect(mailFault()).toBeUndefined();
    await attempt();
    expect(mailFault()).toMatch(/^The mail server takes no mails: it is closing, or has had too/);
    server.behaviour.onRecipient = () => {};
    await attempt();
    expect(mailFault()).toBeUndefined();
    await server.stop();
  });

  test.each([450, 451, 550, 553])('is not at fault if it refuses a mailbox: %d', async (status) => {
    noteMailTaken();
    const server = await startMailServer();
    server.behaviour.onRecipient = () => {
      throw refusal(status);
    };
    const send = makeMailer({ url: server.url, from });
    for (let i = 0; i < 3; i++) {
      const refused = await send(mail).catch((error) => error);
      expect(refused).toMatchObject({ outcome: 'refused', isFinal: status >= 500 });
    }
    expect(mailFault()).toBeUndefined();
    await server.stop();
  });

  test('is not at fault for an address that cannot be written', async () => {
    noteMailTaken();
    const server = await startMailServer();
    const send = makeMailer({ url: server.url, from });
    for (let i = 0; i < 3; i++) {
      const to = 'ann\r\n@example.org';
      const refused = await send({ ...mail, to }).catch((error) => error);
      if (refused) expect(refused.outcome).toBe('refused');
    }
    expect(mailFault()).toBeUndefined();
    await server.stop();
  });
});
