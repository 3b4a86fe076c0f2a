import '../../../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { measure, measureRun } from '../../../../bin/bench/measure.ts';
import { batchDelete, batchWrite } from '../../../../shared/base/table/batch.ts';
import { metered } from '../../../../shared/base/table/budget.ts';
import { collect, queryItems } from '../../../../shared/base/table/query.ts';
import { tryUpdate } from '../../../../shared/base/table/transact.ts';
import {
  accountMailKey,
  contactKey,
  noticeKey,
  reviewKey,
  userKey,
} from '../../../../shared/core/keys.ts';
import { appeal } from '../../../../shared/core/report/decision-repository.ts';
import { setMails } from '../../../../shared/core/user/mails.ts';
import { setModerator } from '../../../../shared/core/user/name-repository.ts';
import { noticeItem } from '../../../../shared/core/user/notice.ts';
import { findAccount } from '../../../../shared/core/user/user-repository.ts';
import { moveIdentity } from '../../../../shared/features/account/move-identity.ts';
import { decideUser } from '../../../../shared/features/moderation/account-decisions.ts';
import { removeThing } from '../../../../shared/features/names/record-decisions.ts';
import { sendNotices } from '../../../../shared/features/notices/run.ts';
import { importRecords } from '../../../../shared/features/transfer/import.ts';
import type { UserRecord } from '../../../../shared/features/transfer/record.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { countMetrics, silence } from '../../../helpers/console.ts';
import { readItem, setAttributes } from '../../../helpers/items.ts';
import { refusal, startMailServer } from '../../../helpers/mail-server.ts';
import { correct, decideName, reviewNew } from '../../../helpers/names-by-people.ts';
import { routeOf } from '../../../helpers/routes.ts';
import { beforeSend } from '../../../helpers/sends.ts';
import { exported, sourced } from '../../../helpers/transfer.ts';
import { ask, requestPage } from '../../../helpers/visit.ts';
import {
  by,
  makeModerator,
  operator,
  Person,
  reviewBody,
  signIn,
  whileHeld,
} from '../../../helpers/world.ts';

const server = await startMailServer();
const { inbox, behaviour } = server;
const mia = await makeModerator('Mia');
const ben = await makeModerator('Ben');

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

let now = Date.now();

/** Lets time pass, and runs the job. */
async function later(milliseconds: number) {
  now += milliseconds;
  stopClock(now);
  return sendNotices();
}

let people = 0;

/** Somebody whose address is verified, unless that is said. */
async function member(identity: Partial<Parameters<typeof signIn>[0]> = {}) {
  people++;
  const email = `member${people}@example.org`;
  const person = await signIn({ email, email_verified: true, ...identity });
  return Object.assign(person, { email });
}

const mailsTo = ({ email }: { email: string }) => inbox.filter(({ to }) => to.includes(email));

/** A new review by a person, which a moderator hides. Returns its id. */
async function hidden(author: Person): Promise<string> {
  const id = await author.publishes();
  await mia.decides(id, 'hide');
  return id;
}

/** Another moderator decides on the appeal against a hidden review. */
async function decidedAppeal(author: Person, decision: 'restore' | 'uphold'): Promise<void> {
  const id = await hidden(author);
  await appeal(id, author.id, 'It is my own.');
  await ben.decides(id, decision);
}

/** A new review that waits for a moderator. */
const held = (author: Person) => whileHeld(() => author.publishes());

/** The mail server refuses all mails with this code from now on. */
function refuseMails(code: number) {
  behaviour.onMail = () => {
    throw refusal(code);
  };
}

/** The mail server refuses a mailbox, or all, with this code. Returns the times when it did. */
function refuseMailbox(code: number, email?: string): number[] {
  const times: number[] = [];
  behaviour.onRecipient = (address) => {
    if (email !== undefined && address !== email) return;
    times.push(now);
    throw refusal(code);
  };
  return times;
}

const queued = () => collect(queryItems(noticeKey('', '')));

beforeAll(() => {
  Object.assign(process.env, {
    SMTP_URL: server.url,
    MAIL_FROM: 'reviews@example.org',
    SITE_NAME: 'Filmwerk',
  });
});
beforeEach(() => {
  now += 10 * day;
  stopClock(now);
});
afterEach(() => {
  delete behaviour.onMail;
  delete behaviour.onRecipient;
});
afterAll(server.stop);

test('an author is told of a decision once, a minute later', async () => {
  const ann = await member();
  const id = await hidden(ann);
  await later(0);
  expect(mailsTo(ann)).toEqual([]);
  await later(minute);
  await later(minute);
  await later(day);
  const [mail, ...others] = mailsTo(ann);
  expect(others).toEqual([]);
  expect(mail?.headers).toMatchObject({
    from: 'Filmwerk <reviews@example.org>',
    to: ann.email,
    subject: 'News about your contributions',
    'list-unsubscribe': expect.stringMatching(/^<https:\/\/api\.example\/ws\/mails\/[\w.-]+>$/),
    'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
    'auto-submitted': 'auto-generated',
  });
  for (const part of [mail?.text, mail?.html]) {
    expect(part).toContain('A moderator has hidden a review of yours.');
    expect(part).toContain(`https://api.example/ws/review/${id}`);
    expect(part).not.toContain('A record that gets better');
  }
});

describe('an author is told that a moderator', () => {
  test.each<[string, (author: Person) => Promise<unknown>, string]>([
    [
      'has approved a review',
      async (author) => mia.decides(await held(author), 'approve'),
      'A moderator has approved a review of yours. It is public now.',
    ],
    [
      'has restored a review after an appeal',
      (author) => decidedAppeal(author, 'restore'),
      'A review of yours is public again.',
    ],
    [
      'has refused an appeal',
      (author) => decidedAppeal(author, 'uphold'),
      'Your appeal was decided: the review stays hidden.',
    ],
    [
      'has refused an edit',
      async (author) => {
        const id = await author.publishes();
        await whileHeld(() => author.edits(id, { text: 'Another text that is long enough.' }));
        await mia.decides(id, 'refuse');
      },
      'A moderator has refused an edit of yours. The review stays as it was.',
    ],
    [
      'has taken down a name',
      async (author) => {
        const entity = await reviewNew(author, { name: 'Ours' });
        await removeThing(entity, { by: by(mia) }, { hidesReviews: true });
      },
      'A name that you gave was corrected or removed.',
    ],
    [
      'has declined a correction',
      async (author) => {
        const entity = await reviewNew(await member(), { name: 'Theirs' });
        await correct(author, entity, { name: 'Mine', note: '' });
        await decideName(mia, entity, author, 'decline');
      },
      'A moderator has declined a correction of yours.',
    ],
  ])('%s', async (_, deed, sentence) => {
    const ann = await member();
    await deed(ann);
    await later(minute);
    expect(mailsTo(ann).map(({ text }) => text)).toEqual([expect.stringContaining(sentence)]);
  });

  test('has decided on what is called by a name that its reader may see', async () => {
    const ann = await member();
    const { entity_id } = await reviewNew(ann, { name: 'Tea & <Toast>' });
    const [id = ''] = (await ann.listsOwnReviews()).body.reviews.map(
      (review: { id: string }) => review.id,
    );
    await mia.decides(id, 'hide');
    await later(minute);
    const [mail] = mailsTo(ann);
    expect(mail?.text).toContain('“Tea & <Toast>”: A moderator has hidden');
    expect(mail?.html).toContain('“Tea &amp; &lt;Toast&gt;”: A moderator has hidden');
    expect(mail?.text).not.toContain(entity_id);
  });
});

describe('no mail tells', () => {
  test.each<[string, (id: string, author: Person) => Promise<unknown>]>([
    ['of a review that was hidden after its approval', (id) => mia.decides(id, 'hide')],
    [
      'of an approval of what is hidden, whatever became of the later notice',
      async (id) => {
        await mia.decides(id, 'hide');
        await batchDelete((await queued()).filter(({ kind }) => kind === 'hide'));
      },
    ],
    ['of a review that was deleted', (id, author) => author.deletes(id)],
    ['of what the account page has shown', (_, author) => ask('show-account', author)],
  ])('%s', async (_, then) => {
    const ann = await member();
    const id = await held(ann);
    await mia.decides(id, 'approve');
    await then(id, ann);
    await later(minute);
    expect(mailsTo(ann).filter(({ text }) => text.includes('approved'))).toEqual([]);
  });

  test.each<[string, object, (author: Person) => Promise<unknown>]>([
    ['a blocked account', {}, ({ id }) => decideUser(id, 'block', operator)],
    ['a deleted account', {}, (author) => author.leaves()],
    ['somebody who wants none', {}, ({ id }) => setMails(id, { news: false })],
  ])('%s of anything', async (_, identity, then) => {
    const ann = await member(identity);
    await hidden(ann);
    await then(ann);
    const before = inbox.length;
    await later(minute);
    expect(inbox.slice(before)).toEqual([]);
    expect(await queued()).toEqual([]);
  });

  test.each<[string, object, (author: Person) => Promise<unknown>]>([
    ['that nobody has verified', { email_verified: false }, async () => {}],
    ['that was changed', {}, (ann) => ann.updatesProfile({ email: 'x@example.org' })],
  ])('an address %s of anything, for a day and a half', async (_, identity, then) => {
    const ann = await member(identity);
    await hidden(ann);
    await then(ann);
    const before = inbox.length;
    for (let hours = 0; hours < 30; hours += 6) {
      await later(6 * hour);
      expect(inbox.slice(before)).toEqual([]);
      expect(await queued()).toHaveLength(1);
    }
    await later(12 * hour);
    expect(inbox.slice(before)).toEqual([]);
    expect(await queued()).toEqual([]);
  });

  test('an address that is not verified for a moment, and then all that came', async () => {
    const subject = randomUUID();
    const ann = await member({ subject });
    await hidden(ann);
    await signIn({ subject, email: ann.email, email_verified: false });
    await later(minute);
    expect(mailsTo(ann)).toEqual([]);
    await signIn({ subject, email: ann.email, email_verified: true });
    await later(6 * hour);
    expect(mailsTo(ann)).toHaveLength(1);
  });
});

test('no mail tells of a hidden review whose deletion is under way', async () => {
  const ann = await member();
  const id = await hidden(ann);
  await setAttributes(reviewKey(id), { deleted_at: new Date().toISOString() });
  await later(minute);
  expect(mailsTo(ann)).toEqual([]);
});

describe('the pace', () => {
  test('is a mail an hour, which has all that came meanwhile', async () => {
    const ann = await member();
    await hidden(ann);
    await later(minute);
    for (let i = 0; i < 12; i++) await hidden(ann);
    await later(minute);
    expect(mailsTo(ann)).toHaveLength(1);
    await later(hour);
    await later(hour);
    const [, mail, ...others] = mailsTo(ann);
    expect(others).toEqual([]);
    expect(mail?.text.match(/has hidden a review/g)).toHaveLength(10);
    expect(mail?.text).toContain('And 2 more decisions.');
  });

  test('bounds the mails of a day, and a flood for one account holds up no others', async () => {
    const ann = await member();
    const ben = await member();
    const id = await hidden(ann);
    const flood = async (count: number) => {
      const notice = { user_id: ann.id, kind: 'hide', review_id: id, created_at: now } as const;
      const notices = Array.from({ length: count }, () => ({ put: noticeItem(notice, now) }));
      await batchWrite(notices);
    };
    await flood(1100);
    await hidden(ben);
    await later(minute);
    await later(minute);
    expect(mailsTo(ann)).toHaveLength(1);
    expect(mailsTo(ben)).toHaveLength(1);
    for (let i = 1; i < 24 * 2; i++) {
      await flood(1);
      await later(30 * minute);
    }
    expect(mailsTo(ann)).toHaveLength(24);
  });
});

describe('a mail server', () => {
  beforeEach(() => void silence('warn'));

  test('that takes nothing for a day makes each run fail, and nothing is lost', async () => {
    const ann = await member();
    const ben = await member();
    await hidden(ann);
    await hidden(ben);
    refuseMails(421);
    await expect(later(minute)).rejects.toThrow('421');
    for (let i = 0; i < 6; i++) await later(5 * hour).catch(() => {});
    expect([...mailsTo(ann), ...mailsTo(ben)]).toEqual([]);
    delete behaviour.onMail;
    await later(hour);
    await later(hour);
    expect([mailsTo(ann).length, mailsTo(ben).length]).toEqual([1, 1]);
  });

  test('that takes nothing for two days loses the mail, and that is counted', async () => {
    const ann = await member();
    await hidden(ann);
    refuseMails(421);
    await expect(later(minute)).rejects.toThrow();
    for (let i = 0; i < 10; i++) await later(5 * hour).catch(() => {});
    expect(await queued()).toEqual([]);
    expect(console.warn).toHaveBeenCalledWith({ message: 'Notices were not mailed', notices: 1 });
  });

  test('counts attempts that fail after half an hour, so that few failing runs are seen', async () => {
    const counted = countMetrics();
    const late = () => counted.filter((name) => name === 'LateMails').length;
    await hidden(await member());
    refuseMails(421);
    const counts = [];
    let failed = 0;
    for (let minutes = 1; minutes <= 120; minutes++) {
      await later(minute).catch(() => failed++);
      if (minutes % 30 === 0) counts.push(late());
    }
    expect(failed).toBeLessThan(10);
    expect(counts).toEqual([0, 1, 1, 2]);
    delete behaviour.onMail;
    await later(2 * hour);
    expect(late()).toBe(2);
    expect(counted).not.toContain('LostNotices');
  });

  test('that refuses one address is asked again for it, and sends the others', async () => {
    const ann = await member();
    const ben = await member();
    await hidden(ann);
    await hidden(ben);
    const asked = refuseMailbox(550, ann.email);
    await later(minute);
    expect(mailsTo(ben)).toHaveLength(1);
    for (let i = 0; i < 60; i++) await later(hour);
    // An hour later, and then after as long as it has waited.
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.length).toBeLessThan(8);
  });

  test('that takes a mail and does not answer gets it twice at most', async () => {
    const ann = await member();
    await hidden(ann);
    const ids: (string | undefined)[] = [];
    behaviour.onMail = ({ headers }) => {
      ids.push(headers['message-id']);
      return 'drop';
    };
    await later(minute);
    for (let i = 0; i < 60; i++) await later(hour);
    expect(ids).toHaveLength(2);
    // A mailbox shows it once.
    expect(new Set(ids).size).toBe(1);
    expect(await queued()).toEqual([]);
  });
});

test('what cannot be read about one person holds up nobody else', async () => {
  const ann = await member();
  const ben = await member();
  await hidden(ann);
  await later(1);
  await hidden(ben);
  await tryUpdate({ Key: userKey(ann.id), set: { karma: 'many' } });
  await expect(later(minute)).rejects.toThrow('Expected number');
  expect(mailsTo(ben)).toHaveLength(1);
  await tryUpdate({ Key: userKey(ann.id), set: { karma: 0 } });
  await later(5 * minute);
  expect(mailsTo(ann)).toHaveLength(1);
});

test('nor does a person of whom more waits than a run reads', async () => {
  const ann = await member();
  const ben = await member();
  const notice = { user_id: ann.id, kind: 'hide', created_at: now } as const;
  await batchWrite(Array.from({ length: 1000 }, () => ({ put: noticeItem(notice, now) })));
  await tryUpdate({ Key: userKey(ann.id), set: { karma: 'many' } });
  await hidden(ben);
  await expect(later(minute)).rejects.toThrow('Expected number');
  await later(minute);
  expect(mailsTo(ben)).toHaveLength(1);
  await tryUpdate({ Key: userKey(ann.id), set: { karma: 0 } });
  await later(5 * minute);
  expect(await queued()).toEqual([]);
});

test('a run that dies after the mail sends it once more, and never again', async () => {
  const ann = await member();
  await hidden(ann);
  const dying = () =>
    beforeSend(({ input }) => {
      if ('RequestItems' in input && JSON.stringify(input).includes('DeleteRequest')) {
        throw new Error('died');
      }
    });
  for (const pause of [minute, hour]) {
    const spy = dying();
    await expect(later(pause)).rejects.toThrow('died');
    spy.mockRestore();
  }
  silence('warn');
  for (let i = 0; i < 5; i++) await later(hour);
  expect(mailsTo(ann)).toHaveLength(2);
  expect(await queued()).toEqual([]);
});

test('two runs at once send a mail once', async () => {
  const ann = await member();
  await hidden(ann);
  await Promise.all([later(minute), later(0), later(0)]);
  await later(hour);
  expect(mailsTo(ann)).toHaveLength(1);
});

describe('a moderator', () => {
  const appointed: string[] = [];

  async function moderator() {
    const mod = await member({ display_name: `Mod ${people}` });
    await setModerator(mod.id, true);
    appointed.push(mod.id);
    return mod;
  }

  // Each run would write to those of the tests before. One has left.
  afterEach(async () => {
    for (const id of appointed.splice(0)) {
      await setModerator(id, false).catch((error) => expect(error).toHaveStatus(404));
    }
  });

  test('is told that something waits, once an hour at most, and nothing of its text', async () => {
    const mod = await moderator();
    const ann = await member();
    const bob = await member();
    await held(ann);
    await later(minute);
    await later(10 * minute);
    expect(mailsTo(mod)).toHaveLength(1);
    await held(bob);
    await later(10 * minute);
    expect(mailsTo(mod)).toHaveLength(1);
    await later(hour);
    await later(day);
    const [first, second, ...others] = mailsTo(mod);
    expect(others).toEqual([]);
    expect(first?.headers.subject).toBe('A moderator is needed');
    expect(second?.text).toMatch(
      /Waiting for a moderator: [^\n]+\.\nhttps:.*\/account\/moderation/,
    );
    expect(second?.text).not.toContain('A record that gets better');
    expect([...mailsTo(ann), ...mailsTo(bob)]).toEqual([]);
  });

  test.each<[string, () => () => void, number]>([
    [
      'whose mail the server refuses for now',
      () => {
        refuseMailbox(450);
        return () => {};
      },
      1,
    ],
    [
      'whose mail has no known end',
      () => {
        const spy = beforeSend(({ input }) => {
          if (JSON.stringify(input).includes('told_until')) throw new Error('died');
        });
        return () => spy.mockRestore();
      },
      2,
    ],
  ])('%s is told an hour later', async (_, fail, mails) => {
    silence('warn');
    const mod = await moderator();
    await held(await member());
    const recover = fail();
    await later(minute).catch(() => {});
    delete behaviour.onRecipient;
    recover();
    await later(minute);
    await later(hour);
    await later(hour);
    expect(mailsTo(mod)).toHaveLength(mails);
  });

  test('whose mailbox refuses for a day is asked no more', async () => {
    silence('warn');
    const mod = await moderator();
    await held(await member());
    const asked = refuseMailbox(550, mod.email);
    for (let i = 0; i < 30; i++) await later(hour);
    expect(asked).toHaveLength(25);
  });

  test('whom older code has appointed is told after the next sign-in', async () => {
    const subject = `old ${people}`;
    const mod = await member({ subject, display_name: 'Olaf' });
    await setModerator(mod.id, true);
    await tryUpdate({ Key: userKey(mod.id), set: { author: undefined } });
    await held(await member());
    await later(minute);
    expect(mailsTo(mod)).toEqual([]);
    await signIn({ subject, display_name: 'Olaf', email: mod.email, email_verified: true });
    await held(await member());
    await later(minute);
    expect(mailsTo(mod)).toHaveLength(1);
  });

  test.each<[string, (mod: Person) => Promise<unknown>]>([
    ['who is one no longer', ({ id }) => setModerator(id, false)],
    ['who is blocked', ({ id }) => decideUser(id, 'block', operator)],
    ['who wants no such mails', ({ id }) => setMails(id, { desk: false })],
    ['who has left', (mod) => mod.leaves()],
  ])('%s is told nothing', async (_, then) => {
    const mod = await moderator();
    await then(mod);
    await held(await member());
    await later(minute);
    expect(mailsTo(mod)).toEqual([]);
  });
});

test('the digest of a week goes to those who asked for it, with public reviews alone', async () => {
  const ann = await member();
  const bob = await member();
  await setMails(ann.id, { digest: true });
  await later(6 * day);
  const shown = await bob.publishes();
  const gone = await hidden(bob);
  await later(day + minute);
  await later(day);
  const [mail, ...others] = mailsTo(ann);
  expect(others).toEqual([]);
  expect(mail?.headers.subject).toBe('The latest reviews');
  expect(mail?.text).toContain(`by “Zoë”\nhttps://api.example/ws/review/${shown}`);
  expect(mail?.text).not.toContain(gone);
  await setMails(ann.id, { digest: false });
  await later(8 * day);
  expect(mailsTo(ann)).toHaveLength(1);
  expect(mailsTo(bob).map(({ headers }) => headers.subject)).not.toContain('The latest reviews');
});

test('a digest has two reviews of one member, and names in quotation marks that nobody ends', async () => {
  const ann = await member();
  const bob = await member();
  const eve = await member({ display_name: 'Eve” wrote. Your account' });
  await setMails(ann.id, { digest: true });
  await later(6 * day);
  for (let i = 0; i < 2; i++) await bob.publishes();
  for (let i = 0; i < 12; i++) await eve.publishes();
  await later(day + minute);
  await later(day);
  const [mail] = mailsTo(ann);
  const authors = [...`${mail?.text}`.matchAll(/by (.*)$/gm)].map(([, author]) => author);
  const ofEve = '“Eve’ wrote. Your account”';
  const ofBob = '“Zoë”';
  expect(authors.toSorted()).toEqual([ofEve, ofEve, ofBob, ofBob]);
});

test('a decision costs two write units more where it is mailed, and a publication none', async () => {
  const ann = await member();
  // The first one of a day begins its counts.
  await ann.publishes();
  const used = async () => {
    const request = { method: 'POST', caller: ann.caller, body: reviewBody() };
    const publication = await measure('create-review', request);
    const id = await held(ann);
    const approval = await measureRun(() => mia.decides(id, 'approve'));
    return { publication: publication.write, approval: approval.write };
  };
  const mailed = await used();
  delete process.env.MAIL_FROM;
  const silent = await used();
  expect(mailed.publication).toBeGreaterThan(10);
  expect(mailed.publication).toBe(silent.publication);
  expect(mailed.approval - silent.approval).toBe(2);
});

test('a run without anything to do writes nothing, and reads five units', async () => {
  await later(day);
  const { usage } = await metered(() => later(minute));
  expect(usage.write).toBe(0);
  expect(usage.read).toBeLessThanOrEqual(5);
});

test('an export and the own data have the settings, and an import restores them', async () => {
  const ann = await member();
  await setMails(ann.id, { news: false, digest: true });
  const settings = { mails_news: false, mails_digest: true };
  expect((await ann.exports()).body.profile).toMatchObject(settings);
  const record = (await exported()).find(
    (each) => 'id' in each && each.id === ann.id,
  ) as UserRecord;
  expect(record.contact).toMatchObject(settings);
  await ann.leaves();
  const copy = { ...record, id: randomUUID(), contact: { ...record.contact, identity: undefined } };
  await importRecords(sourced([copy as UserRecord]));
  await later(7 * day + minute);
  expect((await readItem(contactKey(copy.id)))?.all).toBe('DIGEST');
});

describe('a mail about who signs in', () => {
  /** Somebody whose account moves to another address. Returns the old and the new one. */
  async function moved() {
    const subject = randomUUID();
    const ann = await member({ subject });
    const next = { issuer: 'https://id.example', subject: randomUUID(), display_name: 'Ann' };
    const email = `next${people}@example.org`;
    await moveIdentity(ann.id, { ...next, email, email_verified: true, musicdb_username: null });
    return { ...ann, id: ann.id, email: ann.email, next: { email } };
  }

  test('goes to the address before, with a link that takes the account back', async () => {
    const { id, email, next } = await moved();
    await later(minute);
    const [mail, ...others] = mailsTo({ email });
    expect(others).toEqual([]);
    expect(mail?.headers.subject).toMatch(/^Another address signs in to your account at /);
    // The owner of the one address need not know the other.
    expect(mail?.text).not.toContain(next.email);
    expect(mail?.headers).not.toHaveProperty('list-unsubscribe');
    const move = `${mail?.link.replace(/.*\//, '')}`;
    expect(await requestPage(routeOf('undo-move'), { path: { move } })).toHaveStatus(200);
    await later(minute);
    expect(mailsTo(next).map(({ headers }) => headers.subject)).toEqual([
      expect.stringMatching(/^This address no longer signs in /),
    ]);
    expect((await findAccount(id))?.contact.sign_in_email).toBe(email);
  });

  test('waits for a server that takes none, and is sent once', async () => {
    const { email } = await moved();
    refuseMailbox(421);
    await later(minute).catch(() => {});
    expect(mailsTo({ email })).toEqual([]);
    delete behaviour.onRecipient;
    await later(hour);
    await later(hour);
    expect(mailsTo({ email })).toHaveLength(1);
  });

  test('is tried again each hour for a mailbox that refuses it, and given up after three days', async () => {
    const { email } = await moved();
    const tries = refuseMailbox(550, email);
    for (let i = 0; i < 75; i++) await later(hour);
    expect(tries.length).toBeGreaterThan(65);
    expect(tries.length).toBeLessThan(74);
    expect(await collect(queryItems(accountMailKey('', '')))).toEqual([]);
  });

  test('is not sent about an account that is gone', async () => {
    const { id, email } = await moved();
    await new Person(id).leaves();
    await later(minute);
    expect(mailsTo({ email })).toEqual([]);
  });
});
