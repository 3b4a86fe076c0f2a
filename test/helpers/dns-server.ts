import { createSocket, type RemoteInfo } from 'node:dgram';
import dns from 'node:dns/promises';
import { once } from 'node:events';
import { isIP } from 'node:net';

/** Returns the addresses of a name, or undefined to give no answer. */
type Zone = (name: string, family: 4 | 6) => readonly string[] | undefined;

/** Record types of RFC 1035 and RFC 3596. */
const recordTypes = { 4: 1, 6: 28 } as const;

/**
 * Starts a DNS server on this machine, which this process asks from now on. Returns the questions
 * that it was asked.
 */
export async function startDnsServer(zone: Zone): Promise<{ questions: string[] }> {
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, from: RemoteInfo) => {
    const { name, type, end } = questionIn(message);
    const family = type === recordTypes[6] ? 6 : 4;
    questions.push(`${name} ${family}`);
    const addresses = zone(name, family);
    if (addresses) socket.send(answerTo(message.subarray(0, end), addresses), from.port);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const servers = dns.getServers();
  dns.setServers([`127.0.0.1:${socket.address().port}`]);
  afterAll(() => {
    dns.setServers(servers);
    socket.close();
  });
  return { questions };
}

function questionIn(message: Buffer) {
  const labels: string[] = [];
  let offset = 12;
  for (let length = message.readUInt8(offset); length > 0; length = message.readUInt8(offset)) {
    labels.push(message.toString('latin1', offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  return { name: labels.join('.'), type: message.readUInt16BE(offset + 1), end: offset + 5 };
}

/** Answers a question, of which `question` has the header too (RFC 1035 section 4.1). */
function answerTo(question: Buffer, addresses: readonly string[]): Buffer {
  const header = Buffer.from(question);
  // A response without an error, to a recursive question, with one question.
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, ...addresses.map(recordOf)]);
}

function recordOf(address: string): Buffer {
  const bytes = bytesOf(address);
  const record = Buffer.alloc(12);
  // The name is that of the question.
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(recordTypes[isIP(address) as 4 | 6], 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([record, bytes]);
}

function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [before = '', after] = address.split('::');
  const head = before.split(':').filter(Boolean);
  const tail = after?.split(':').filter(Boolean) ?? [];
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  const groups = [...head, ...zeros, ...tail].map((group) => group.padStart(4, '0'));
  return Buffer.from(groups.join(''), 'hex');
}
