import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** In milliseconds: the time in which a mail signs in. A slow reader asks again. */
const lifetime = 15 * 60_000;
/**
 * Wrong codes until a mail is void. A code has 8 digits, and a mailbox gets 24 mails an hour at
 * most, so 120 guesses an hour succeed once in 95 years. Somebody who mistypes 5 times asks again.
 */
const mostGuesses = 5;
/** In milliseconds: the period of the limits on mails. */
const period = 60 * 60_000;

/** A mail that can sign in, in the browser that asked for it alone. */
export interface PendingMail {
  /** Id of the interaction. */
  id: string;
  address: string;
  /** A MAC of the secret that the cookie of the browser has. */
  browser: string;
  /** A MAC of the token in the link, or empty if no mail was sent. */
  token: string;
  /** A MAC of the code, or empty. */
  code: string;
}

/** In milliseconds, between two deletions of what has expired. */
const sweepEvery = 60_000;

/** Asks that got no mail, of which pages show the address. */
const mostHeld = 10_000;

/** Changes with the tables. All in them ends in an hour, so other tables are dropped. */
const layout = 2;

const tables = {
  mail: `id TEXT PRIMARY KEY, address TEXT, token TEXT, code TEXT, browser TEXT, guesses INTEGER,
    expires_at INTEGER`,
  proof:
    'subject TEXT, browser TEXT, address TEXT, expires_at INTEGER, PRIMARY KEY (subject, browser)',
  sent: 'id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, expires_at INTEGER',
};

/** Name of the file in a data folder. */
export const signInsFile = 'sign-ins.sqlite';

/**
 * Opens the file of the sign-ins under way, which survive a restart. It holds MACs of links, codes
 * and browsers, so nobody who reads it can sign in. Backups leave it out: all in it ends in an
 * hour, and addresses are overwritten then. Nothing is stored before a mail is asked for.
 */
export function openPendingSignIns(file: string) {
  if (file !== ':memory:') closeSync(openSync(file, 'a', 0o600));
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON;');
  if (Number(database.prepare('PRAGMA user_version').get()?.user_version) !== layout) {
    const former = ['interaction', ...Object.keys(tables)];
    database.exec(former.map((name) => `DROP TABLE IF EXISTS ${name};`).join(''));
    for (const [name, columns] of Object.entries(tables)) {
      database.exec(`CREATE TABLE ${name} (${columns});
        CREATE INDEX ${name}_by_expiry ON ${name} (expires_at);`);
    }
    database.exec(`CREATE INDEX sent_by_name ON sent (name, expires_at);
      PRAGMA user_version = ${layout};`);
  }
  const run = (sql: string, ...values: (string | number)[]) => database.prepare(sql).run(...values);
  const get = (sql: string, ...values: (string | number)[]) => database.prepare(sql).get(...values);

  /**
   * Deletes what has expired, which no query counts or finds, and the oldest of many asks that got
   * no mail: their number has no limit of its own.
   */
  function expire() {
    run(`DELETE FROM mail WHERE id IN
      (SELECT id FROM mail WHERE token = '' ORDER BY expires_at DESC LIMIT -1 OFFSET ${mostHeld})`);
    for (const name of Object.keys(tables)) {
      run(`DELETE FROM ${name} WHERE expires_at <= ?`, Date.now());
    }
  }
  expire();
  const sweep = setInterval(expire, sweepEvery).unref();

  return {
    /** Replaces the mail of an interaction, whose older link and code are void then. */
    save({ id, address, browser, token, code }: PendingMail): void {
      const sql = 'INSERT OR REPLACE INTO mail VALUES (?, ?, ?, ?, ?, 0, ?)';
      run(sql, id, address, token, code, browser, Date.now() + lifetime);
    },

    find(id: string): PendingMail | undefined {
      const sql =
        'SELECT id, address, browser, token, code FROM mail WHERE id = ? AND expires_at > ?';
      return get(sql, id, Date.now()) as PendingMail | undefined;
    },

    /**
     * Uses up the mail. Returns its address, or undefined if `mac` is not its token or code, or
     * another browser has asked. Only the browser that asked uses up guesses.
     */
    use(id: string, kind: 'token' | 'code', mac: string, browser: string): string | undefined {
      const mine = 'id = ? AND browser = ?';
      const sql = `DELETE FROM mail WHERE ${mine} AND ${kind} = ? AND expires_at > ? RETURNING address`;
      const item = get(sql, id, browser, mac, Date.now());
      if (item) return `${item.address}`;
      if (kind === 'code') {
        run(`UPDATE mail SET guesses = guesses + 1 WHERE ${mine}`, id, browser);
        run('DELETE FROM mail WHERE id = ? AND guesses >= ?', id, mostGuesses);
      }
      return undefined;
    },

    /** Keeps a proved address until the application has its claims. */
    prove(subject: string, address: string, browser: string): void {
      const sql = 'INSERT OR REPLACE INTO proof VALUES (?, ?, ?, ?)';
      run(sql, subject, browser, address, Date.now() + lifetime);
    },

    /** Returns true if this browser proved the address of the subject, and has not gone on yet. */
    isProvedBy(subject: string, browser: string): boolean {
      const sql = 'SELECT 1 FROM proof WHERE subject = ? AND browser = ? AND expires_at > ?';
      return get(sql, subject, browser, Date.now()) !== undefined;
    },

    /** Ends what this browser may go on with. Its proof is that of nobody then. */
    end(browser: string): void {
      run("UPDATE OR REPLACE proof SET browser = '' WHERE browser = ?", browser);
    },

    /** Returns the address that was proved a moment ago. */
    addressOf(subject: string): string | undefined {
      const sql = 'SELECT address FROM proof WHERE subject = ? AND expires_at > ?';
      const item = get(sql, subject, Date.now());
      return item && `${item.address}`;
    },

    /**
     * Returns the time (epoch ms) at which each name has fewer mails than `most` again, or
     * undefined if that is so now.
     */
    fullUntil(limits: readonly { name: string; most: number }[]): number | undefined {
      const sql = `SELECT expires_at FROM sent WHERE name = ? AND expires_at > ?
        ORDER BY expires_at DESC LIMIT 1 OFFSET ?`;
      const ends = limits.flatMap(({ name, most }) => {
        const item = get(sql, name, Date.now(), most - 1);
        return item ? [Number(item.expires_at)] : [];
      });
      return ends.length === 0 ? undefined : Math.max(...ends);
    },

    /** Counts a mail for each name, for an hour. Returns ids to take it back. */
    count(names: readonly string[]): number[] {
      const expires = Date.now() + period;
      return names.map((name) =>
        Number(
          run('INSERT INTO sent (name, expires_at) VALUES (?, ?)', name, expires).lastInsertRowid,
        ),
      );
    },

    /** Takes back what was counted. */
    uncount(ids: readonly number[]): void {
      for (const id of ids) run('DELETE FROM sent WHERE id = ?', id);
    },

    close() {
      clearInterval(sweep);
      database.close();
    },
  };
}

export type PendingSignIns = ReturnType<typeof openPendingSignIns>;
