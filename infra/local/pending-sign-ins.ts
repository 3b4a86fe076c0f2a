import { DatabaseSync } from 'node:sqlite';
import type { Adapter, AdapterPayload } from 'oidc-provider';

/** In milliseconds: the time in which a mail signs in. A slow reader asks again. */
const lifetime = 15 * 60_000;
/**
 * Wrong codes until a mail is void. A code has 8 digits, and an address gets 20 mails an hour, so
 * 100 guesses an hour succeed once in 114 years. Somebody who mistypes 5 times asks again.
 */
const mostGuesses = 5;
/** In milliseconds: the period of the limits on mails. */
const period = 60 * 60_000;

/** A mail that can sign in, in the browser of the interaction `id` alone. */
interface PendingMail {
  id: string;
  address: string;
  /** A MAC of the token in the link, or empty if no mail was sent. */
  token: string;
  /** A MAC of the code, or empty. */
  code: string;
}

/** Name of the file in a data folder. */
export const signInsFile = 'sign-ins.sqlite';

/**
 * Opens the file of the sign-ins under way, which survive a restart. It holds MACs of links and
 * codes, so nobody who reads it can sign in. Backups leave it out: all in it ends in an hour.
 */
export function openPendingSignIns(file: string) {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS interaction (id TEXT PRIMARY KEY, payload TEXT, expires_at INTEGER);
    CREATE TABLE IF NOT EXISTS mail
      (id TEXT PRIMARY KEY, address TEXT, token TEXT, code TEXT, guesses INTEGER, expires_at INTEGER);
    CREATE TABLE IF NOT EXISTS proof (subject TEXT PRIMARY KEY, address TEXT, expires_at INTEGER);
    CREATE TABLE IF NOT EXISTS sent (name TEXT, expires_at INTEGER);
    CREATE INDEX IF NOT EXISTS sent_by_name ON sent (name);`);
  const run = (sql: string, ...values: (string | number)[]) => database.prepare(sql).run(...values);
  const get = (sql: string, ...values: (string | number)[]) => database.prepare(sql).get(...values);

  /** Deletes what has expired. */
  function expire() {
    for (const name of ['interaction', 'mail', 'proof', 'sent']) {
      run(`DELETE FROM ${name} WHERE expires_at <= ?`, Date.now());
    }
  }

  const interactions: Adapter = {
    async upsert(id, payload, seconds = 0) {
      expire();
      const expires = Date.now() + seconds * 1000;
      run(
        'INSERT OR REPLACE INTO interaction VALUES (?, ?, ?)',
        id,
        JSON.stringify(payload),
        expires,
      );
    },
    async find(id) {
      const sql = 'SELECT payload FROM interaction WHERE id = ? AND expires_at > ?';
      const item = get(sql, id, Date.now());
      return item && (JSON.parse(`${item.payload}`) as AdapterPayload);
    },
    async destroy(id) {
      run('DELETE FROM interaction WHERE id = ?', id);
    },
    // The library calls these for other models only.
    async findByUid() {},
    async findByUserCode() {},
    async consume() {},
    async revokeByGrantId() {},
  };

  return {
    interactions,

    /** Replaces the mail of an interaction, whose older link and code are void then. */
    save({ id, address, token, code }: PendingMail): void {
      expire();
      const sql = 'INSERT OR REPLACE INTO mail VALUES (?, ?, ?, ?, 0, ?)';
      run(sql, id, address, token, code, Date.now() + lifetime);
    },

    find(id: string): PendingMail | undefined {
      const sql = 'SELECT id, address, token, code FROM mail WHERE id = ? AND expires_at > ?';
      return get(sql, id, Date.now()) as PendingMail | undefined;
    },

    /** Uses up the mail. Returns its address, or undefined if `mac` is not its token or code. */
    use(id: string, kind: 'token' | 'code', mac: string): string | undefined {
      const sql = `DELETE FROM mail WHERE id = ? AND ${kind} = ? AND expires_at > ? RETURNING address`;
      const item = get(sql, id, mac, Date.now());
      if (item) return `${item.address}`;
      if (kind === 'code') {
        run('UPDATE mail SET guesses = guesses + 1 WHERE id = ?', id);
        run('DELETE FROM mail WHERE id = ? AND guesses >= ?', id, mostGuesses);
      }
      return undefined;
    },

    /** Keeps a proved address until the application has its claims. */
    prove(subject: string, address: string): void {
      expire();
      run('INSERT OR REPLACE INTO proof VALUES (?, ?, ?)', subject, address, Date.now() + lifetime);
    },

    /** Returns the address that was proved a moment ago. */
    addressOf(subject: string): string | undefined {
      const sql = 'SELECT address FROM proof WHERE subject = ? AND expires_at > ?';
      const item = get(sql, subject, Date.now());
      return item && `${item.address}`;
    },

    /** Counts a mail for each name. Counts none and returns false if one has `most` in an hour. */
    count(limits: readonly { name: string; most: number }[]): boolean {
      expire();
      const sql = 'SELECT count(*) AS mails FROM sent WHERE name = ?';
      if (limits.some(({ name, most }) => Number(get(sql, name)?.mails) >= most)) return false;
      for (const { name } of limits)
        run('INSERT INTO sent VALUES (?, ?)', name, Date.now() + period);
      return true;
    },

    close: () => database.close(),
  };
}

export type PendingSignIns = ReturnType<typeof openPendingSignIns>;
