import { randomUUID } from 'node:crypto';
import { contactKey } from '../../../../shared/core/keys.ts';
import { listGrants } from '../../../../shared/core/oauth/grant-repository.ts';
import { createPersonalToken } from '../../../../shared/core/oauth/personal-token-repository.ts';
import type { Identity } from '../../../../shared/core/user/identity.ts';
import { addressFor } from '../../../../shared/core/user/mails.ts';
import {
  type Account,
  findAccount,
  findUser,
} from '../../../../shared/core/user/user-repository.ts';
import {
  FormerIdentity,
  findOrCreateUser,
} from '../../../../shared/features/account/identity-repository.ts';
import { linkIdentity, relink } from '../../../../shared/features/account/link.ts';
import { moveIdentity, undoMove } from '../../../../shared/features/account/move-identity.ts';
import { decideUser } from '../../../../shared/features/moderation/account-decisions.ts';
import { importRecords } from '../../../../shared/features/transfer/import.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { readItem, scanTable } from '../../../helpers/items.ts';
import { beforeFirst, beforeSend, beforeTransaction } from '../../../helpers/sends.ts';
import { exported, sourced } from '../../../helpers/transfer.ts';
import { makeGrant, operator, Person } from '../../../helpers/world.ts';

const issuer = 'https://id.example';
let people = 0;

/** Somebody at the identity provider, with an address that nobody else has. */
function somebody(): Identity {
  people++;
  return {
    issuer,
    subject: randomUUID(),
    display_name: `Ann ${people}`,
    email: `ann${people}@mail.example`,
    email_verified: true,
    musicdb_username: null,
  };
}

async function member() {
  const old = somebody();
  const next = somebody();
  const { id } = await findOrCreateUser(old);
  return { id, old, next, from: await identityOf(id) };
}

const contactOf = async (id: string) => ((await findAccount(id)) as Account).contact;
const identityOf = async (id: string) => `${(await contactOf(id)).identity}`;
const mailsIn = async () => (await scanTable()).filter(({ sk }) => sk.startsWith('ACCOUNT#'));
const mailsOf = async (id: string) => (await mailsIn()).filter(({ user_id }) => user_id === id);
const week = 7 * 86_400_000;

/** Expects that all sessions which had begun by then are over. */
async function expectSignedOut(id: string, since: number) {
  expect((await findUser(id))?.signed_out).toBeGreaterThanOrEqual(since);
}

describe('a move to another identity', () => {
  test('leaves the account to the new one alone, with mails to its address', async () => {
    const { id, old, next } = await member();
    expect(await moveIdentity(id, next)).toBe('moved');
    expect((await findOrCreateUser(next)).id).toBe(id);
    await expect(findOrCreateUser(old)).rejects.toBeInstanceOf(FormerIdentity);
    const account = (await findAccount(id)) as Account;
    expect(addressFor(account, 'news')).toBe(next.email);
    expect(account.contact.sign_in_email).toBe(next.email);
  });

  test('ends all sessions, and keeps grants and personal tokens', async () => {
    const { id, next } = await member();
    await makeGrant(new Person(id), ['review']);
    const session = Date.now();
    await moveIdentity(id, next);
    await expectSignedOut(id, session);
    expect(await listGrants(id)).toHaveLength(1);
  });

  test('tells the earlier address, and nobody without mails', async () => {
    const { id, next } = await member();
    await moveIdentity(id, next);
    expect(await mailsIn()).toEqual([]);
    process.env.MAIL_FROM = 'reviews@example.org';
    const other = await member();
    await moveIdentity(other.id, other.next);
    expect(await mailsIn()).toMatchObject([
      { kind: 'moved', to: other.old.email, from: other.from },
    ]);
  });

  test('keeps an address that the person wrote', async () => {
    const { id, next } = await member();
    await new Person(id).updatesProfile({ email: 'me@home.example' });
    await moveIdentity(id, next);
    expect(await contactOf(id)).toMatchObject({ email: 'me@home.example', email_from: 'person' });
  });

  test('is made once in seven days, so that the earlier identity can undo it', async () => {
    const { id, old, next } = await member();
    const third = somebody();
    await moveIdentity(id, next);
    expect(await moveIdentity(id, third)).toBe('early');
    stopClock(Date.now() + week + 1000);
    expect(await moveIdentity(id, third)).toBe('moved');
    // The first identity is free, and so opens an account of its own.
    expect((await findOrCreateUser(old)).id).not.toBe(id);
  });

  test('is not made to an identity that has an account, or for which one waits', async () => {
    const { id, next } = await member();
    const other = await findOrCreateUser(next);
    expect(await moveIdentity(id, next)).toBe('taken');
    expect((await findOrCreateUser(next)).id).toBe(other.id);
    const waits = somebody();
    const contact = { email: waits.email ?? '', email_verified: true };
    const record = {
      kind: 'user',
      id: randomUUID(),
      display_name: 'Eve',
      created: '2020-01-01T00:00:00.000Z',
      contact,
    };
    await importRecords(sourced([record as never]));
    expect(await moveIdentity(id, waits)).toBe('taken');
    expect((await findOrCreateUser(waits)).id).toBe(record.id);
  });

  test('is not made by a blocked account, whose block would be left behind', async () => {
    const { id, next } = await member();
    await decideUser(id, 'block', operator);
    await expect(moveIdentity(id, next)).rejects.toHaveStatus(403);
  });

  test('ends the claim by the earlier address', async () => {
    const { id, old, next } = await member();
    await relink(issuer, 'https://other.example');
    await moveIdentity(id, next);
    const claims = (await scanTable()).filter(({ sk }) => sk === 'ADDRESS');
    expect(claims.map(({ user_id }) => user_id)).not.toContain(id);
    const claimer = { ...old, issuer: 'https://other.example', subject: randomUUID() };
    expect((await findOrCreateUser(claimer)).id).not.toBe(id);
  });

  test('frees the earlier identity when the account is deleted', async () => {
    const { id, old, next } = await member();
    await moveIdentity(id, next);
    await new Person(id).leaves();
    expect((await findOrCreateUser(old)).id).not.toBe(id);
  });

  test('is in an export, but not what ends in a week', async () => {
    const { id, from, next } = await member();
    await moveIdentity(id, next);
    const records = await exported();
    expect(records.find((one) => one.kind === 'user' && one.id === id)).toMatchObject({
      contact: { moved: { from } },
    });
    expect(JSON.stringify(records)).not.toContain(`IDENTITY#${from}`);
  });
});

describe('the undoing of a move', () => {
  test('gives the account back, and ends sessions, grants and personal tokens', async () => {
    const { id, old, next, from } = await member();
    await moveIdentity(id, next);
    await makeGrant(new Person(id), ['user']);
    await createPersonalToken({ user_id: id, name: 'Script', scopes: [], days: 7 });
    const session = Date.now();
    expect(await undoMove(id, from)).toBe('undone');
    expect((await findOrCreateUser(old)).id).toBe(id);
    expect((await findOrCreateUser(next)).id).not.toBe(id);
    await expectSignedOut(id, session);
    expect(await listGrants(id)).toEqual([]);
    const account = (await findAccount(id)) as Account;
    expect(addressFor(account, 'news')).toBe(old.email);
  });

  test('can be repeated, and ends nothing that came after it', async () => {
    const { id, old, next, from } = await member();
    await moveIdentity(id, next);
    const answers = await Promise.all([1, 2, 3].map(() => undoMove(id, from)));
    expect(answers).toEqual(['undone', 'undone', 'undone']);
    await makeGrant(new Person(id), ['user']);
    expect(await undoMove(id, from)).toBe('undone');
    expect(await listGrants(id)).toHaveLength(1);
    expect((await findOrCreateUser(old)).id).toBe(id);
  });

  test('is for seven days', async () => {
    const { id, old, next, from } = await member();
    await moveIdentity(id, next);
    stopClock(Date.now() + week + 1000);
    expect(await undoMove(id, from)).toBe('over');
    expect((await findOrCreateUser(next)).id).toBe(id);
    expect((await findOrCreateUser(old)).id).not.toBe(id);
  });

  test('is for that account and its earlier identity alone', async () => {
    const ann = await member();
    const ben = await member();
    await moveIdentity(ann.id, ann.next);
    await moveIdentity(ben.id, ben.next);
    expect(await undoMove(ann.id, ben.from)).toBe('over');
    expect(await undoMove(randomUUID(), ann.from)).toBe('over');
    expect((await findOrCreateUser(ann.next)).id).toBe(ann.id);
  });

  test('does not undo what the operator has decided since', async () => {
    const { id, next, from } = await member();
    const third = somebody();
    await moveIdentity(id, next);
    await linkIdentity(id, { issuer, subject: third.subject });
    expect(await undoMove(id, from)).toBe('over');
    // The operator can also link the earlier one again.
    await linkIdentity(id, { sha256: from });
    expect(await identityOf(id)).toBe(from);
  });

  test('tells the other address', async () => {
    process.env.MAIL_FROM = 'reviews@example.org';
    const { id, next, from } = await member();
    await moveIdentity(id, next);
    await undoMove(id, from);
    const mail = expect.objectContaining({ kind: 'move-undone', to: next.email });
    expect(await mailsOf(id)).toContainEqual(mail);
  });
});

describe('a process that dies after its transaction', () => {
  /** Lets the first transaction through, and nothing after it. The sessions must be over. */
  async function dies(id: string, act: () => Promise<unknown>) {
    const session = Date.now();
    let isOver = false;
    const spy = beforeSend(({ input }) => {
      if (isOver) throw new Error('died');
      if (input.TransactItems) isOver = true;
    });
    await expect(act()).rejects.toThrow('died');
    spy.mockRestore();
    await expectSignedOut(id, session);
  }

  test('has moved the account, and ended its sessions', async () => {
    const { id, next } = await member();
    await dies(id, () => moveIdentity(id, next));
  });

  test('has undone the move, and ended sessions and grants', async () => {
    const { id, next, from } = await member();
    await moveIdentity(id, next);
    await makeGrant(new Person(id), ['user']);
    await dies(id, () => undoMove(id, from));
    expect(await listGrants(id)).toEqual([]);
  });

  test('has linked another identity, and ended sessions', async () => {
    const { id, next } = await member();
    await dies(id, () => linkIdentity(id, { issuer, subject: next.subject }));
  });
});

describe('at once', () => {
  test('a sign-in whose identity was read before a move does not get the account', async () => {
    const { id, old, next } = await member();
    // After the identity, a sign-in reads the account, in one batch.
    beforeFirst(
      ({ input }) => 'RequestItems' in input,
      () => moveIdentity(id, next),
    );
    await expect(findOrCreateUser(old)).rejects.toBeInstanceOf(FormerIdentity);
  });

  test('sessions that began while the move was written end as well', async () => {
    const { id, next } = await member();
    let looked = 0;
    beforeTransaction(async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      looked = Date.now();
    });
    await moveIdentity(id, next);
    await expectSignedOut(id, looked);
  });

  test('a sign-in whose address follows does not write over a move', async () => {
    const { id, old, next } = await member();
    beforeTransaction(() => moveIdentity(id, next));
    await expect(
      findOrCreateUser({ ...old, email: 'changed@mail.example' }),
    ).rejects.toBeInstanceOf(FormerIdentity);
    expect((await contactOf(id)).sign_in_email).toBe(next.email);
  });

  test('two moves: one is made', async () => {
    const { id, next } = await member();
    const third = somebody();
    const outcomes = await Promise.all([moveIdentity(id, next), moveIdentity(id, third)]);
    expect(outcomes.sort()).toEqual(['early', 'moved']);
  });

  test('two accounts that move to one identity: one gets it', async () => {
    const ann = await member();
    const ben = await member();
    const { next } = await member();
    const outcomes = await Promise.all([moveIdentity(ann.id, next), moveIdentity(ben.id, next)]);
    expect(outcomes.sort()).toEqual(['moved', 'taken']);
  });

  test('a move and a first sign-in of the new identity: it has one account', async () => {
    for (let i = 0; i < 5; i++) {
      const { id, old, next } = await member();
      const [outcome, user] = await Promise.all([moveIdentity(id, next), findOrCreateUser(next)]);
      expect((await findOrCreateUser(next)).id).toBe(user.id);
      expect(outcome).toBe(user.id === id ? 'moved' : 'taken');
      if (outcome === 'taken') expect((await findOrCreateUser(old)).id).toBe(id);
    }
  });

  test('a move and a claim of the account: one succeeds', async () => {
    for (let i = 0; i < 5; i++) {
      const { id, old, next } = await member();
      const to = `https://to${i}.example`;
      await relink(issuer, to);
      const claimer = { ...old, issuer: to, subject: randomUUID() };
      const [outcome, user] = await Promise.all([
        moveIdentity(id, next),
        findOrCreateUser(claimer),
      ]);
      const owner = await identityOf(id);
      if (user.id === id) {
        // The claim came first: the move went from the claimer, or found nothing to move.
        expect(['moved', 'early']).toContain(outcome);
      } else expect(outcome).toBe('moved');
      const identities = (await scanTable()).filter(
        ({ sk, user_id }) => sk === 'IDENTITY' && user_id === id,
      );
      expect(identities.map(({ pk }) => pk)).toEqual([`IDENTITY#${owner}`]);
    }
  });

  test('an undoing and a deletion: nobody gets a deleted account', async () => {
    const { id, old, next, from } = await member();
    await moveIdentity(id, next);
    await Promise.all([undoMove(id, from), new Person(id).triesToLeave()]);
    expect(await findUser(id)).toBeUndefined();
    expect((await findOrCreateUser(old)).id).not.toBe(id);
  });
});

test('the operator moves an account, tells the earlier address, and can look before', async () => {
  process.env.MAIL_FROM = 'reviews@example.org';
  const { id, old, next, from } = await member();
  const { subject } = next;
  const look = await linkIdentity(id, { issuer, subject }, { tells: true, isDryRun: true });
  expect(look.before).toBe(from);
  expect((await findOrCreateUser(old)).id).toBe(id);
  const { after } = await linkIdentity(id, { issuer, subject }, { tells: true });
  expect(after).toBe(look.after);
  expect((await findOrCreateUser(next)).id).toBe(id);
  expect(await mailsOf(id)).toMatchObject([{ kind: 'moved-by-operator', to: old.email }]);
  // There is no undoing for an address that somebody else may hold by now.
  expect(await undoMove(id, from)).toBe('over');
  expect(await readItem(contactKey(id))).toMatchObject({ email: next.email, email_verified: true });
});
