// The file of a form, and the sentences for one that cannot be taken.
import { type EntityType, nameOfEntityType } from '../../core/entity/entity-type.ts';
import { reviewableTypes } from '../../core/entity/reviewable-types.ts';
import { largestFile } from '../../core/http/form.ts';
import { FieldError } from '../../pages/form/way-back.ts';
import { mostRows, readTable, TooManyRows, UnknownTable } from './read-table.ts';
import { columnsOf, siteNames } from './sites.ts';
import { usualType } from './take-file.ts';

/** Most of a header that a message repeats. */
const longestHeader = 200;

/** Reads the file of a form. Throws FieldError with what is wrong with it, and what is taken. */
export async function readSentTable(file: string, chosen: EntityType | undefined) {
  if (file === '') throw new FieldError('file', 'Please choose a file with something in it.');
  if (Buffer.byteLength(file) > largestFile) {
    throw new FieldError('file', 'It has more than 4 MB. Divide it into several files.');
  }
  if (file.includes('\ufffd')) {
    throw new FieldError('file', 'It is not UTF-8. Take the file as the site has made it.');
  }
  const table = await readTable(file).catch((error) => {
    if (error instanceof TooManyRows) {
      const most = mostRows.toLocaleString('en');
      throw new FieldError('file', `It has more than ${most} rows. Divide it into several files.`);
    }
    throw error instanceof UnknownTable ? new FieldError('file', unknown(error.header)) : error;
  });
  const entity_type = chosen ?? usualType(table.site);
  if (entity_type === undefined) {
    const types = reviewableTypes.map(nameOfEntityType).join(', ');
    throw new FieldError('entity_type', `Please choose one of ${types}.`);
  }
  return { ...table, entity_type };
}

function unknown(header: readonly string[]): string {
  const taken = siteNames.map((name) => `${columnsOf(name).name} (${columnsOf(name).files})`);
  const columns = header.filter((name) => name !== '').join(', ');
  const short = columns.length > longestHeader ? `${columns.slice(0, longestHeader)}…` : columns;
  const seen = short === '' ? 'It has no columns' : `Its columns are: ${short}`;
  return `${seen}. Taken are exports of ${taken.join(', ')}.`;
}
