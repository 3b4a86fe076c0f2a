/** Exports and imports by the admin tool, for one test file. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { handler as reportReview } from '../../functions/api/report-review.ts';
import { handler as updateReview } from '../../functions/api/update-review.ts';
import { reviewKey } from '../../shared/core/keys.ts';
import { createPersonalToken } from '../../shared/core/oauth/personal-token-repository.ts';
import { decideReview } from '../../shared/core/report/decision-repository.ts';
import { findOrCreateUser } from '../../shared/features/account/identity-repository.ts';
import { admin, dataFolderOn } from './admin.ts';
import { newFolder } from './folder.ts';
import { invoke } from './invoke.ts';
import { setAttributes } from './items.ts';
import { differences } from './recount.ts';
import { newTable } from './table.ts';
import { makeGrant, makeUser, makeUsers, type Person, text } from './world.ts';

export const folder = newFolder();
let files = 0;

/** A path in the folder of this test that nothing has. */
export function path(end = '.jsonl'): string {
  return join(folder, `${files++}${end}`);
}

/** An empty table, and a data folder on it. */
export async function emptyTable(): Promise<{ name: string; dataDir: string }> {
  const name = await newTable();
  return { name, dataDir: dataFolderOn(name) };
}

export async function ask(args: string[], dataDir?: string) {
  const { code, stdout, stderr } = await admin(args, dataDir);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** The bytes of an export. */
export async function exported(dataDir?: string): Promise<string> {
  const out = path();
  await ask(['export', '--out', out], dataDir);
  return readFileSync(out, 'utf8');
}

/** The files of a public dump, by name. */
export async function publicDump() {
  const out = path('');
  const answer = await ask(['export', '--public', '--out', out]);
  const names = readdirSync(out).filter((name) => name.endsWith('.gz'));
  const files = new Map(names.map((name) => [name, readFileSync(join(out, name))]));
  const everything = [...files.values()].map((bytes) => `${gunzipSync(bytes)}`).join('');
  return { out, answer, files, everything };
}

/** The output of an import that refuses some lines, and its answer. */
export async function importBroken(content: string | Buffer, dataDir?: string) {
  const said = listen();
  const { code, stdout } = await admin(['import', file(content)], dataDir);
  jest.mocked(console.error).mockRestore();
  const { exitCode } = process;
  process.exitCode = undefined;
  return { said, code, exitCode, answer: JSON.parse(stdout) };
}

/** Tests the numbers of the table in use. */
export async function expectRight(): Promise<void> {
  expect(await differences()).toEqual([]);
}

/** Fields of a line that a test reads before it has proved its shape. */
export interface Line {
  [name: string]: unknown;
  kind: string;
  id: string;
  created: string;
  counts: Record<string, number>;
  revisions: object[];
  item: Record<string, unknown>;
}

export function records(content: string): [Line, ...Line[]] {
  const lines = content.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line)) as [Line, ...Line[]];
}

export function file(content: string | Buffer): string {
  const name = path();
  writeFileSync(name, content);
  return name;
}

export const why = { reason: 'spam', note: '', moderator_id: null } as const;

/** Output on stderr until the end of the test, which prints none of it. */
export function listen(): string[] {
  const said: string[] = [];
  jest.spyOn(console, 'error').mockImplementation((line) => {
    said.push(`${line}`);
  });
  return said;
}

export function rate({ caller }: Person, review_id: string, rating: number) {
  return invoke(updateReview, { caller, path: { review_id }, body: { rating } });
}

export function report({ caller }: Person, review_id: string) {
  return invoke(reportReview, { caller, path: { review_id }, body: {} });
}

/** Something of every kind. */
export async function live() {
  const [ann, bob, eve] = await makeUsers(3);
  const gone = await makeUser();
  const identity = { issuer: 'https://id.example', subject: randomUUID(), display_name: 'Zoë' };
  const email = `${randomUUID()}@mail.example`;
  const zoe = await findOrCreateUser({ ...identity, email, musicdb_username: 'zoe' });
  const review = await ann.publishes({ language: 'de', license_choice: 'CC0 1.0' });
  await bob.votes(review);
  await rate(ann, review, 2);
  await eve.votes(review, 'down');
  await setAttributes(reviewKey(review), { source: 'BBC', source_url: 'https://bbc.example/' });
  const draft = await bob.publishes({ is_draft: true, text: `${text} A draft.` });
  const hidden = await eve.publishes({ text: `${text} A hidden one.` });
  await bob.votes(hidden);
  await report(ann, hidden);
  await decideReview(hidden, 'hide', { ...why, note: 'A shop.' });
  await report(eve, review);
  await report(gone, review);
  const { grant, access_token } = await makeGrant(ann, ['vote'], { owner: bob });
  const own = { user_id: ann.id, name: 'Script', scopes: [], days: 30 as const };
  const token = await createPersonalToken(own);
  const left = await gone.publishes();
  await gone.votes(review);
  await gone.leaves();
  const tokens = [access_token, token.access_token];
  return { ann, bob, eve, zoe, email, review, draft, hidden, grant, tokens, gone, left };
}

/** The record of the edited review in `live`, without its revisions. */
export const recordOf = (id: string, author: Person) => ({
  kind: 'review',
  id,
  entity_id: expect.any(String),
  entity_type: 'release_group',
  user_id: author.id,
  language: 'de',
  license: 'CC0 1.0',
  created: expect.any(String),
  published_on: expect.any(String),
  source: 'BBC',
  source_url: 'https://bbc.example/',
});
export const revision = { text, timestamp: expect.any(String) };
