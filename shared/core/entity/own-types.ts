import * as v from 'valibot';
import { Name } from '../../base/values.ts';
import { databases, databaseTypes, olderNames } from './databases.ts';

// Types of entities that the operator adds, such as films: OWN_TYPES=film:Film,game:Board game.

declare const isOwn: unique symbol;

/** A type that the operator of this service has added. */
export type OwnType = string & { readonly [isOwn]: true };

/** Most types of one service. A list of a language merges a partition for each type. */
const mostOwnTypes = 8;

const Word = v.regex(/^[a-z][a-z0-9_]{1,29}$/);
const Label = Name(40);

/** Words that no own type may have. */
const taken = [...databaseTypes, 'own', ...Object.keys(databases), ...Object.values(olderNames)];

/** Reads types and their names for people. Throws a sentence for the operator. */
export function ownTypesIn(text: string): Map<OwnType, string> {
  const types = new Map<OwnType, string>();
  for (const entry of text.split(',').filter((part) => part.trim() !== '')) {
    const [type = '', label = '', ...more] = entry.split(':').map((part) => part.trim());
    const fault = (must: string) => new Error(`OWN_TYPES: ${entry.trim()} ${must}`);
    if (!v.is(v.pipe(v.string(), Word), type)) {
      throw fault('must begin with 2 to 30 lower-case letters, digits and _, a letter first');
    }
    if (!v.is(Label, label) || more.length > 0) {
      throw fault('must have a name of up to 40 characters after one colon, as in film:Film');
    }
    if (taken.includes(type) || /^b[bk]_/.test(type)) throw fault('is a name with another meaning');
    if (types.has(type as OwnType)) throw fault('is there twice');
    types.set(type as OwnType, label);
  }
  if (types.size > mostOwnTypes) {
    throw new Error(`OWN_TYPES: there must be at most ${mostOwnTypes} types, not ${types.size}`);
  }
  return types;
}
