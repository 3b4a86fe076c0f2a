// A file that a person brings, as it is stored: its head, and its rows in parts.
import * as v from 'valibot';
import { getItems } from '../../base/table/batch.ts';
import { parseItem, parseItems } from '../../base/table/parse.ts';
import { getItem, queryItems } from '../../base/table/query.ts';
import { transact, type Write } from '../../base/table/transact.ts';
import { StoredEntityType } from '../../core/entity/entity-type.ts';
import { PathParameter } from '../../core/http/request.ts';
import { Language, LicenseChoice } from '../../core/review/review.ts';
import { folded } from '../things/public.ts';
import { fileKey, rowsKey } from './kinds.ts';
import { siteNames } from './sites.ts';

/** Files of one person, which are also the most of 24 hours. */
export const slots = [1, 2, 3] as const;

/** The path of a file. */
export const FilePath = v.object({
  slot: PathParameter('File', v.pipe(v.picklist(['1', '2', '3']), v.transform(Number))),
});

/** Days that a file is stored, and can be undone. */
export const keptDays = 30;

/** States of a row: as it was found, as it was brought, and why it was left out. */
const rowStates = [
  'found',
  'new',
  'unfound',
  'have',
  'bad',
  'published',
  'held',
  'draft',
  'refused',
  'undone',
] as const;
export type RowState = (typeof rowStates)[number];

/** One row of the file, with its line there, from 1. */
export const Row = v.object({
  line: v.number(),
  state: v.picklist(rowStates),
  /** A sentence: why it was left out, or is not whole. */
  why: v.optional(v.string()),
  title: v.string(),
  by: v.optional(v.string()),
  year: v.optional(v.string()),
  /** Stars in steps of a quarter. */
  rating: v.optional(v.number()),
  text: v.optional(v.string()),
  /** yyyy-mm-dd. */
  date: v.optional(v.string()),
  entity_id: v.optional(v.string()),
});
export type Row = v.InferOutput<typeof Row>;

/** Returns the words by which two rows are about one thing. */
export function nameOf({ title, by = '', year = '' }: Pick<Row, 'title' | 'by' | 'year'>): string {
  return JSON.stringify([folded(title), folded(by) || year]);
}

/** A part of the rows: the work of one step. */
export const Part = v.object({ rows: v.array(Row) });

/** The choices of the person about all rows. */
export const Choices = v.object({
  halves: v.picklist(['up', 'down']),
  is_draft: v.boolean(),
  language: Language,
  license_choice: LicenseChoice,
});
export type Choices = v.InferOutput<typeof Choices>;

/** The stages of a file: stored, looked up, brought, and undone. */
export const tasks = ['find', 'bring', 'undo'] as const;
export type Task = (typeof tasks)[number];

/** The head of a file. */
export const BroughtFile = v.object({
  id: v.string(),
  user_id: v.string(),
  slot: v.picklist(slots),
  site: v.picklist(siteNames),
  entity_type: StoredEntityType,
  created: v.string(),
  /** The last step. ISO 8601. */
  updated_at: v.string(),
  rows: v.number(),
  /** Rows without stars and text, which are not stored. */
  empty: v.number(),
  parts: v.number(),
  /** The last stage, if its parts were stored. */
  stage: v.optional(v.picklist(tasks)),
  /** Set while the stage is not complete: the stream then leads to the next step. */
  task: v.optional(v.picklist(tasks)),
  /** The next part of the stage, from 0. */
  next: v.number(),
  /** Rows by state, as far as the stage is. */
  counts: v.record(v.string(), v.number()),
  choices: v.optional(Choices),
  version: v.number(),
  expires_at: v.number(),
});
export type BroughtFile = v.InferOutput<typeof BroughtFile>;

/** Reads the files of a person that are stored, the newest first. */
export async function listFiles(userId: string): Promise<BroughtFile[]> {
  const items = await getItems(
    slots.map((slot) => fileKey(userId, slot)),
    { consistent: true },
  );
  return parseItems(BroughtFile, items).toSorted((a, b) => (a.created < b.created ? 1 : -1));
}

/** Returns the file in a slot of a person, if there is one. */
export async function findFile(userId: string, slot: number): Promise<BroughtFile | undefined> {
  return parseItem(BroughtFile, await getItem(fileKey(userId, slot)));
}

/** Reads the rows of a part. None if it has expired. */
export async function readRows(file: BroughtFile, part: number): Promise<Row[]> {
  const item = await getItem(rowsKey(file.user_id, file.id, part));
  return parseItem(Part, item)?.rows ?? [];
}

/** Parts of a page: 24 read units at most. */
const partsPerPage = 4;

/** Reads the rows of a page, from a part on, and the first part of the next page, if any. */
export async function readPageOfRows(
  { user_id, id, parts }: BroughtFile,
  from: number,
): Promise<{ rows: Row[]; next?: number }> {
  const end = Math.min(parts, from + partsPerPage);
  const numbers = Array.from({ length: Math.max(0, end - from) }, (_, i) => from + i);
  const items = await getItems(numbers.map((number) => rowsKey(user_id, id, number)));
  const rows = parseItems(Part, items).flatMap((part) => part.rows);
  return { rows, ...(end < parts && { next: end }) };
}

/** Yields the rows of all files of a person, a part at a time, after a key. */
export async function* partsOf(userId: string, after: string) {
  const pages = queryItems(rowsKey(userId, '', ''), { pageSize: 4, after: after || undefined });
  for await (const items of pages) {
    for (const item of items) {
      yield { lastKey: item.sk, rows: parseItem(Part, item)?.rows ?? [] };
    }
  }
}

/** Returns the write that changes the head, if nobody has changed it since it was read. */
export function change(file: BroughtFile, set: Partial<BroughtFile>): Write {
  const { user_id, slot, version } = file;
  return {
    Update: {
      Key: fileKey(user_id, slot),
      was: { id: file.id, version },
      set: { ...set, updated_at: new Date().toISOString(), version: version + 1 },
    },
  };
}

/**
 * Begins a stage at its first row, or continues one that has stopped. The stream leads to its first
 * step.
 */
export async function begin(
  file: BroughtFile,
  task: Task,
  also: readonly Write[] = [],
  choices?: Choices,
): Promise<void> {
  const isGoingOn = file.task === task;
  const first = isGoingOn ? {} : { next: 0, counts: {} };
  await transact([
    change(file, { stage: task, task, ...first, ...(choices && { choices }) }),
    ...also,
  ]);
}
