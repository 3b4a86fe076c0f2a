import { EventEmitter, once } from 'node:events';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { listen } from './listen.ts';

/** A mail as it has arrived, with headers unfolded and parts decoded. */
export interface ReceivedMail {
  to: string[];
  /** The name that the client said of itself. */
  client: string;
  headers: Record<string, string>;
  text: string;
  html: string;
  /** The first address in the text, and the code of a sign-in. */
  link: string;
  code: string;
}

/** Behaviour of the server. Each is called before it answers, and may throw an error to refuse. */
interface Behaviour {
  onRecipient?(address: string): void;
  /** `drop` ends the connection when the whole mail has arrived, without an answer. */
  onMail?(mail: ReceivedMail): 'drop' | undefined;
}

/** Makes the error that has the server refuse with this code (RFC 5321). */
export const refusal = (responseCode: number) =>
  Object.assign(new Error('refused'), { responseCode });

/**
 * Starts a mail server on this machine. `inbox` has all mails that it took, for anybody. One that
 * offers STARTTLS has a certificate that nobody knows, as a distribution's mail server has. With a
 * `password`, it takes mails from “reviews” alone.
 */
export async function startMailServer({
  offersTls = false,
  password,
}: {
  offersTls?: boolean;
  password?: string;
} = {}) {
  const inbox: ReceivedMail[] = [];
  const behaviour: Behaviour = {};
  const arrivals = new EventEmitter();
  const taken = new Set<ReceivedMail>();
  const server = new SMTPServer({
    authOptional: password === undefined,
    disabledCommands: offersTls ? [] : ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth({ password: sent }, _, done) {
      if (sent === password) done(null, { user: 'reviews' });
      else done(refusal(535));
    },
    onRcptTo({ address }, _, done) {
      try {
        behaviour.onRecipient?.(address);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
    async onData(stream, { envelope, id, hostNameAppearsAs }, done) {
      const raw = await text(stream);
      const to = envelope.rcptTo.map(({ address }) => address);
      const mail = { ...parsed(raw), to, client: hostNameAppearsAs };
      try {
        if (behaviour.onMail?.(mail) === 'drop') {
          for (const connection of server.connections) {
            if ((connection as { id: string }).id === id) (connection as Closing).close();
          }
          return;
        }
        inbox.push(mail);
        done();
        arrivals.emit('mail');
      } catch (error) {
        done(error as Error);
      }
    },
  });
  server.on('error', () => {});
  const address = await listen(server.server);
  return {
    url: address.replace('http:', 'smtp:'),
    inbox,
    behaviour,
    stop: () => new Promise<void>((resolve) => server.close(resolve)),
    /** Waits for the next mail to an address. Each is returned once. */
    async next(to: string): Promise<ReceivedMail> {
      for (;;) {
        const mail = inbox.find((each) => !taken.has(each) && each.to.includes(to));
        if (mail) {
          taken.add(mail);
          return mail;
        }
        await once(arrivals, 'mail');
      }
    },
  };
}

interface Closing {
  close(): void;
}

function parsed(raw: string): Omit<ReceivedMail, 'to' | 'client'> {
  const [head = ''] = raw.split('\r\n\r\n');
  const headers = Object.fromEntries(
    head
      .replaceAll(/\r\n\s+/g, ' ')
      .split('\r\n')
      .map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.replace(/^.*?:\s*/, ''),
      ]),
  );
  const part = (type: string) => {
    const [, rest = ''] = raw.split(`Content-Type: ${type}`);
    const [partHead = '', ...body] = rest.split('\r\n\r\n');
    const content = body.join('\r\n\r\n').split('\r\n--')[0] ?? '';
    if (/base64/i.test(partHead)) return Buffer.from(content, 'base64').toString();
    const bytes = content
      .replaceAll('=\r\n', '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
    return Buffer.from(bytes, 'latin1').toString().replaceAll('\r\n', '\n');
  };
  const plain = part('text/plain');
  return {
    headers,
    text: plain,
    html: part('text/html'),
    link: /http\S+/.exec(plain)?.[0] ?? '',
    code: /there: (\d{4} \d{4})/.exec(plain)?.[1] ?? '',
  };
}
