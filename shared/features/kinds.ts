import type { Item, Key } from '../base/table/item.ts';
import { type Kind, placeholder } from '../base/table/kind.ts';
import { coreKinds } from '../core/kinds.ts';
import { kinds as bring } from './bring/public.ts';
import { kinds as changes } from './changes/public.ts';
import { kinds as databases } from './databases/public.ts';
import { kinds as members } from './members/public.ts';
import { kinds as names } from './names/public.ts';
import { kinds as notices } from './notices/public.ts';
import { kinds as things } from './things/public.ts';
import { kinds as webhooks } from './webhooks/public.ts';

/**
 * Every kind of stored items, in the order of an export: a record stands after those it names. The
 * start of both keys tells a kind from all others. Times in keys are ISO 8601 (UTC, milliseconds),
 * which sort by time. Tests compare the rows with what a journey writes.
 */
const rows = {
  ...coreKinds,
  ...webhooks,
  ...names,
  ...things,
  ...databases,
  ...bring,
  ...members,
  ...notices,
  ...changes,
};

type Rows = typeof rows;
export type KindName = keyof Rows;

/** Kinds that an export has, as records of their own or in those of others. */
export type ExportedKind = {
  [K in KindName]: Rows[K] extends { unexported: string } ? never : K;
}[KindName];

/** Lists of a person's own data. */
export type OwnList = Extract<Rows[KindName], { own: unknown }>['own'] extends infer Own
  ? Own extends readonly (infer List)[]
    ? List
    : Own
  : never;

export const kinds: Readonly<Record<KindName, Kind>> = rows;

export const kindNames = Object.keys(rows) as KindName[];

/** The starts of both keys, or of their forms. */
const startOf = ({ pk, sk }: Key) => `${pk.split('#')[0]} ${sk.split('#')[0]}`;

const byStart = new Map(kindNames.map((name) => [startOf(kinds[name].key.form), name]));

/** Returns the kind of an item. Undefined for one that newer code has written. */
export const kindOf = (key: Key) => byStart.get(startOf(key));

/** Returns the ids in the keys of an item and in its `author`, by their names in the form. */
export function idsIn(kind: KindName, { pk, sk, author = '' }: Item): Record<string, string> {
  const { key, author: lists = [] } = kinds[kind];
  const ids = [lists].flat().map((list) => valuesIn(list, `${author}`));
  return Object.assign({}, ...ids, valuesIn(key.form.pk, pk), valuesIn(key.form.sk, sk));
}

function valuesIn(form: string, text: string): Record<string, string> | undefined {
  return new RegExp(`^${form.replaceAll(placeholder, '(?<$1>[^#]+)')}$`).exec(text)?.groups;
}
