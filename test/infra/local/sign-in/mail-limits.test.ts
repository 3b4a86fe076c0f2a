import {
  defaultMailLimits,
  type MailLimits,
  mailboxOf,
} from '../../../../infra/local/sign-in/mail-limits.ts';
import type { Step } from '../../../../infra/local/sign-in/mail-pages.ts';
import { signInByMail } from '../../../../infra/local/sign-in/mail-sign-in.ts';
import { subjectOf } from '../../../../infra/local/sign-in/subject.ts';
import { openPendingSignIns } from '../../../../infra/local/storage/pending-sign-ins.ts';
import { type Mail, MailError } from '../../../../shared/features/notices/mailer.ts';
import { silence } from '../../../helpers/console.ts';

const key = 'k'.repeat(43);
const origin = 'https://example.org';
process.env.AUTH_URL = `${origin}/ws`;
const room = '192.0.2.1';

/** An answer as a stranger reads it: status, text of the page, and when to ask again. */
type Shown = { status: number; text: string; retryAfter: number | undefined };

interface Ask {
  /** Names the browser. It remembers the mailboxes that have signed in there. */
  browser?: string;
  client?: string;
}

type Many = string | ((i: number) => string);
const nth = (many: Many, i: number) => (typeof many === 'string' ? many : many(i));

/** A service with these accounts, and a mail server that takes mails unless `refuse` throws. */
function service({ limits, accounts = [] }: { limits?: MailLimits; accounts?: string[] } = {}) {
  const pending = openPendingSignIns(':memory:');
  const mails: Mail[] = [];
  const server = { refuse: (_: Mail) => {} };
  const known = new Map<string, string[]>();
  const subjects = new Set(accounts.map((address) => subjectOf(address, key)));
  const steps = signInByMail({
    key,
    pending,
    async send(mail) {
      server.refuse(mail);
      mails.push(mail);
    },
    hasAccount: async (subject) => subjects.has(subject),
    pauses: [],
    ...(limits && { limits }),
  });
  let visits = 0;
  const visitOf = ({ browser = `${++visits}`, client = room }: Ask) => ({
    id: browser,
    token: undefined,
    browser,
    known: known.get(browser) ?? [],
    url: origin,
    client,
  });
  async function ask(address: string, how: Ask = {}): Promise<Shown> {
    const step = await steps.submit(visitOf(how), new Map([['address', address]]));
    // The mail is sent after the answer.
    await new Promise(setImmediate);
    return shown(step);
  }
  return {
    pending,
    mails,
    server,
    steps,
    ask,
    sentTo: (address: string) => mails.filter(({ to }) => to === address).length,
    /** Asks so often, for one address or for one each time, from one client or from many. */
    async flood(count: number, to: Many, client: Many) {
      const answers: Shown[] = [];
      for (let i = 0; i < count; i++)
        answers.push(await ask(nth(to, i), { client: nth(client, i) }));
      return answers;
    },
    /** Signs in by the latest mail to the address. Returns true if that worked. */
    async signIn(address: string, how: Ask & { browser: string }) {
      await ask(address, how);
      const mail = mails.findLast(({ to }) => to === address);
      const token = /\/([\w-]{43})$/m.exec(mail?.text ?? '')?.[1];
      const step = await steps.submit({ ...visitOf(how), token }, new Map());
      if (!('account' in step) || step.mailbox === undefined) return false;
      known.set(how.browser, [step.mailbox]);
      return true;
    },
  };
}

const shown = (step: Step): Shown => {
  if (!('page' in step)) throw new Error('signed in');
  const text = `${step.page}`.replaceAll(/<[^>]+>|\s+/g, ' ');
  return { status: step.status, text, retryAfter: step.retryAfter };
};

const member = (i: number) => `member${i}@club.example`;
const stranger = (i: number) => `stranger${i}@elsewhere.example`;
const everywhere = (i: number) => `198.51.${i >> 8}.${i & 255}`;

describe('the mails of an hour', () => {
  const times: [string, Many, Many, number, number][] = [
    ['4 of a client for an address', stranger(1), room, 6, 4],
    ['20 for an address', stranger(1), everywhere, 30, 20],
    ['20 for a mailbox, whatever its tags', (i) => `ann+${i}@x.example`, everywhere, 30, 20],
    ['30 of a client for people without account', stranger, room, 40, 30],
    ['30 of 64 bits', stranger, (i) => `2001:db8::${i}`, 40, 30],
    ['300 in all for people without account', stranger, everywhere, 320, 300],
  ];
  test.each(times)('are %s', async (_, to, client, count, most) => {
    const { flood, mails } = service();
    await flood(count, to, client);
    expect(mails).toHaveLength(most);
  });

  test('are 300 of a client for accounts, and 500 in all', async () => {
    const accounts = Array.from({ length: 520 }, (_, i) => member(i));
    const ofRoom = service({ accounts });
    const inRoom = await ofRoom.flood(310, member, room);
    expect(ofRoom.mails).toHaveLength(300);
    expect(inRoom.map(({ status }) => status).indexOf(429)).toBe(300);
    const ofAll = service({ accounts });
    const anywhere = await ofAll.flood(520, member, everywhere);
    expect(ofAll.mails).toHaveLength(500);
    expect(anywhere.at(-1)?.text).toContain('Very many people have asked for mails');
  });

  test('are as the operator sets them', async () => {
    const limits = { total: 20, perClient: 10 };
    const accounts = [member(1), member(2)];
    const { ask, flood, mails } = service({ limits, accounts });
    await flood(12, stranger, everywhere);
    expect(mails).toHaveLength(10);
    await ask(member(1));
    expect(mails).toHaveLength(11);
    const own = service({ limits, accounts });
    await own.flood(2, stranger, room);
    expect(own.mails).toHaveLength(1);
  });

  test('of a client leave out browsers that have signed in', async () => {
    const accounts = Array.from({ length: 13 }, (_, i) => member(i));
    const { ask, flood, signIn, sentTo } = service({
      limits: { total: 600, perClient: 10 },
      accounts,
    });
    expect(await signIn(member(12), { browser: 'own', client: '203.0.113.1' })).toBe(true);
    const own = { browser: 'own', client: room };
    for (let i = 0; i < 3; i++) await ask(member(12), own);
    const others = await flood(11, member, room);
    expect(others.map(({ status }) => status).indexOf(429)).toBe(10);
    await ask(member(12), own);
    expect(sentTo(member(12))).toBe(5);
  });

  test('count for an hour', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const { ask, flood, sentTo } = service();
    await flood(4, stranger(1), room);
    jest.advanceTimersByTime(59 * 60_000);
    const refused = await ask(stranger(1));
    expect(refused).toMatchObject({ status: 429, retryAfter: 60 });
    expect(refused.text).toContain('Ask again in 1 minute.');
    jest.advanceTimersByTime(60_000);
    await ask(stranger(1));
    expect(sentTo(stranger(1))).toBe(5);
  });

  test('tell who is refused so, and that an earlier mail still signs in', async () => {
    const { ask, signIn } = service();
    for (let i = 0; i < 4; i++) await ask(stranger(1), { browser: 'mine' });
    const again = await ask(stranger(1), { browser: 'mine' });
    expect(again.status).toBe(429);
    expect(again.text).toContain('Enough mails were asked for this address in the last hour.');
    expect(again.text).toContain('Ask again in 60 minutes. An earlier mail still works.');
    expect(again.text).toContain('type its code here');
    // It asks once more, in vain, and uses the mail from before.
    expect(await signIn(stranger(1), { browser: 'mine' })).toBe(true);
  });
});

describe('a stranger who fills the limits', () => {
  test.each([
    ['of one client', room],
    ['of all mails, from everywhere', everywhere],
  ])('%s shuts nobody out who has an account', async (_, client) => {
    const { flood, signIn } = service({ accounts: [member(1)] });
    await flood(400, stranger, client);
    expect(await signIn(member(1), { browser: 'new' })).toBe(true);
  });

  test('of a mailbox does not shut out the browsers of its owner', async () => {
    const { flood, signIn, ask } = service({ accounts: [member(1)] });
    expect(await signIn(member(1), { browser: 'own' })).toBe(true);
    await flood(40, (i) => member(1).replace('@', `+${i}@`), everywhere);
    await flood(40, member(1), everywhere);
    const elsewhere = await ask(member(1), { client: '203.0.113.1' });
    expect(elsewhere.status).toBe(429);
    for (let i = 0; i < 4; i++) {
      expect(await signIn(member(1), { browser: 'own', client: '203.0.113.2' })).toBe(true);
    }
    expect(await ask(member(1), { browser: 'own' })).toMatchObject({ status: 429 });
  });

  test('who has accounts leaves the last part to browsers that have signed in', async () => {
    const accounts = Array.from({ length: 600 }, (_, i) => member(i));
    const { flood, signIn } = service({ accounts });
    expect(await signIn(member(1), { browser: 'own' })).toBe(true);
    await flood(600, member, everywhere);
    expect(await signIn(member(2), { browser: 'new' })).toBe(false);
    expect(await signIn(member(1), { browser: 'own' })).toBe(true);
  });

  test('of one network leaves some mails for the owner of an address', async () => {
    const { flood, sentTo } = service();
    await flood(60, stranger(1), (i) => `2001:db8:0:${i}00::1`);
    expect(sentTo(stranger(1))).toBe(16);
    await flood(4, stranger(1), room);
    expect(sentTo(stranger(1))).toBe(20);
  });
});

test('300 members of one room sign in within an hour', async () => {
  const accounts = Array.from({ length: 300 }, (_, i) => member(i));
  const { signIn } = service({ accounts });
  let isIn = 0;
  for (let i = 0; i < 300; i++) {
    if (await signIn(member(i), { browser: `phone ${i}`, client: room })) isIn++;
  }
  expect(isIn).toBe(300);
});

describe('the pages say nothing about an account', () => {
  const address = { member: member(7), stranger: 'nobody@club.example' };

  /** Asks for both addresses in the same way, and returns what is shown, without the address. */
  async function both(
    prepare: (world: ReturnType<typeof service>) => Promise<unknown>,
    then: (world: ReturnType<typeof service>, address: string) => Promise<Shown[]>,
  ) {
    const answers = [];
    for (const each of [address.member, address.stranger]) {
      const accounts = [
        address.member,
        ...Array.from({ length: 299 }, (_, i) => `m${i}@x.example`),
      ];
      const world = service({ accounts });
      await prepare(world);
      const pages = await then(world, each);
      answers.push(pages.map((page) => ({ ...page, text: page.text.replaceAll(each, 'A') })));
    }
    return answers;
  }

  const askOften = async ({ ask }: ReturnType<typeof service>, to: string) => {
    const pages = [];
    for (let i = 0; i < 6; i++) pages.push(await ask(to, { client: '203.0.113.9' }));
    return pages;
  };

  test.each<[string, (world: ReturnType<typeof service>) => Promise<unknown>]>([
    ['usually', async () => {}],
    ['while one client asks for many', ({ flood }) => flood(40, stranger, '203.0.113.9')],
    ['while many ask', ({ flood }) => flood(400, stranger, everywhere)],
    [
      'while all members ask',
      ({ flood }) => flood(600, (i) => `m${i % 299}@x.example`, everywhere),
    ],
  ])('%s', async (_, prepare) => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const [ofMember, ofStranger] = await both(prepare, askOften);
    expect(ofMember).toEqual(ofStranger);
  });

  test.each(['203.0.113.9', undefined])('by the time to ask again: client %s', async (client) => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const [ofMember, ofStranger] = await both(
      async ({ ask }) => {
        // Mails that end one after the other, so that each one counted is seen in the time.
        for (let i = 0; i < (client ? 30 : 300); i++) {
          await ask(stranger(i), { client: client ?? everywhere(i) });
          jest.advanceTimersByTime(client ? 60_000 : 6_000);
        }
      },
      async ({ ask }, to) => {
        const pages = [];
        for (let i = 0; i < 3; i++) {
          await ask(to, { client: client ?? '203.0.113.9' });
          for (let j = 0; j < 11; j++) pages.push(await ask(stranger(500 + j), { client: room }));
          pages.push(await ask(stranger(600 + i), { client: client ?? '203.0.113.8' }));
        }
        return pages;
      },
    );
    expect(ofMember).toEqual(ofStranger);
    expect(ofMember?.at(-1)?.text).toContain(
      'If yours has no account yet, ask again in 30 minutes.',
    );
  });

  test('when a page is opened again, a code is typed, or a crowd is over', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const [ofMember, ofStranger] = await both(
      ({ flood }) => flood(40, stranger, '203.0.113.9'),
      async ({ ask, steps }, to) => {
        const visit = {
          id: 'mine',
          token: undefined,
          browser: 'mine',
          known: [],
          url: origin,
          client: '203.0.113.9',
        };
        jest.advanceTimersByTime(50 * 60_000);
        const pages = [await ask(to, { browser: 'mine', client: '203.0.113.9' })];
        pages.push(shown(await steps.open(visit)));
        for (let i = 0; i < 6; i++) {
          pages.push(shown(await steps.submit(visit, new Map([['code', '1']]))));
        }
        for (let i = 0; i < 3; i++) pages.push(await ask(to, { client: '203.0.113.9' }));
        // The mails of the crowd end. What accounts got in that time would be seen now.
        jest.advanceTimersByTime(15 * 60_000);
        for (let i = 0; i < 6; i++) pages.push(await ask(to, { client: '203.0.113.9' }));
        return pages;
      },
    );
    expect(ofMember).toEqual(ofStranger);
    expect(ofMember?.[0]?.text).toContain('Many people ask for mails now.');
    expect(ofMember?.[0]?.text).toContain('ask again in 10 minutes.');
  });
});

describe('a mail that the server does not take', () => {
  const failed = (code: string, responseCode?: number, command = 'CONN') =>
    new MailError(Object.assign(new Error(code), { code, command, responseCode }), false);

  test('counts against nobody', async () => {
    silence('error');
    const { ask, flood, server, sentTo, mails } = service();
    server.refuse = () => {
      throw failed('ESOCKET');
    };
    await flood(12, stranger(1), room);
    await flood(40, stranger, room);
    server.refuse = () => {};
    await ask(stranger(1));
    expect(sentTo(stranger(1))).toBe(1);
    expect(mails).toHaveLength(1);
  });

  test('and that it never will counts for the client alone, who may guess addresses', async () => {
    silence('error');
    const { ask, flood, server, sentTo } = service();
    server.refuse = () => {
      throw failed('EENVELOPE', 550, 'RCPT TO');
    };
    await flood(40, stranger, room);
    server.refuse = () => {};
    await ask(stranger(1));
    expect(sentTo(stranger(1))).toBe(0);
    await ask(stranger(1), { client: everywhere(1) });
    expect(sentTo(stranger(1))).toBe(1);
  });
});

test.each([
  ['ann+films@example.org', 'ann@example.org'],
  ['ann+a+b@example.org', 'ann@example.org'],
  ['ann@example.org', 'ann@example.org'],
  ['+ann@example.org', '+ann@example.org'],
])('the mailbox of %s is %s', (address, mailbox) => {
  expect(mailboxOf(address)).toBe(mailbox);
});

test('the limits of a server are 600 mails an hour, 300 for a client', () => {
  expect(defaultMailLimits).toEqual({ total: 600, perClient: 300 });
});
