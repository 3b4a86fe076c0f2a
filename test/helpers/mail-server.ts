import { EventEmitter, once } from 'node:events';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { listen } from './listen.ts';

/** A mail as a mail server got it. */
export interface ReceivedMail {
  recipients: string[];
  /** By name in lower case. */
  headers: ReadonlyMap<string, string>;
  /** All parts, without their encoding. */
  text: string;
  /** The first address in the text, and the code of a sign-in. */
  link: string;
  code: string;
}

/** Starts a mail server for one test file. It takes every mail, for anybody. */
export async function startMailServer() {
  const mails: ReceivedMail[] = [];
  const arrivals = new EventEmitter();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    async onData(stream, { envelope }, done) {
      const recipients = envelope.rcptTo.map(({ address }) => address);
      mails.push(parse(await text(stream), recipients));
      done();
      arrivals.emit('mail');
    },
  });
  const address = await listen(server.server);
  afterAll(() => new Promise<void>((resolve) => server.close(resolve)));
  const taken = new Set<ReceivedMail>();
  return {
    url: address.replace('http:', 'smtp:'),
    mails,
    /** Waits for the next mail to an address. Each is returned once. */
    async next(to: string): Promise<ReceivedMail> {
      for (;;) {
        const mail = mails.find((each) => !taken.has(each) && each.recipients.includes(to));
        if (mail) {
          taken.add(mail);
          return mail;
        }
        await once(arrivals, 'mail');
      }
    },
  };
}

function parse(source: string, recipients: string[]): ReceivedMail {
  const [head = '', ...parts] = source.split('\r\n\r\n');
  const body = parts
    .join('\n\n')
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const lines = head.replaceAll(/\r\n\s+/g, ' ').split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const [name = '', ...value] = line.split(': ');
    return [name.toLowerCase(), value.join(': ')];
  });
  return {
    recipients,
    headers: new Map(headers),
    text: body,
    link: /http\S+/.exec(body)?.[0] ?? '',
    code: /there: (\d{4} \d{4})/.exec(body)?.[1] ?? '',
  };
}
