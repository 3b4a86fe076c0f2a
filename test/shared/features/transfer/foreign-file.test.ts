import { describe, expect, test } from '@jest/globals';
import { archiveIn } from '../../../../shared/features/transfer/foreign-file.ts';
import { parseHeader } from '../../../../shared/features/transfer/record.ts';

describe('a file that is no export', () => {
  // The first lines as the services write them, in 2026.
  test.each([
    [
      'a file of Goodreads',
      'Book Id,Title,Author,Author l-f,Additional Authors,ISBN,ISBN13,My Rating,Average Rating,Publisher,Binding,Number of Pages,Year Published,Original Publication Year,Date Read,Date Added,Bookshelves,Bookshelves with positions,Exclusive Shelf,My Review,Spoiler,Private Notes,Read Count,Owned Copies',
    ],
    ['a file of Letterboxd', 'Date,Name,Year,Letterboxd URI,Rating'],
    [
      'a file of Letterboxd',
      '\ufeffDate,Name,Year,Letterboxd URI,Rating,Rewatch,Review,Tags,Watched Date\r',
    ],
    ['a file of Letterboxd', 'Letterboxd list export v7'],
    [
      'a file of StoryGraph',
      'Title,Authors,Contributors,ISBN/UID,Format,Read Status,Date Added,Last Date Read,Dates Read,Read Count,Moods,Pace,Character- or Plot-Driven?,Strong Character Development?,Loveable Characters?,Diverse Characters?,Flawed Characters?,Star Rating,Review,Content Warnings,Content Warning Description,Tags,Owned?',
    ],
    ['a table (CSV)', 'Title;Year;Stars'],
    ['a table (CSV)', 'Title\tYear\tStars'],
  ])('is named: %s', (name, line) => {
    expect(() => parseHeader(line)).toThrow(
      `this is ${name}, not an export of this service. The guide “Bring members of another system”`,
    );
  });

  test.each([
    ['a line of a record', '{"kind":"user","id":"a","display_name":"b, c, d"}'],
    ['words', 'Dear all, this is it'],
    ['what is not UTF-8', undefined],
  ])('is not named by %s', (_, line) => {
    expect(() => parseHeader(line)).toThrow(
      'this is not an export: its first line is not a header',
    );
  });

  test.each([
    ['a zip archive', [0x50, 0x4b, 3, 4, 20], 'Unpack it first'],
    ['a bzip2 archive', [0x42, 0x5a, 0x68, 0x39], '--format critiquebrainz'],
  ])('is named by its first bytes: %s', (name, bytes, then) => {
    const said = archiveIn(Buffer.from(bytes)) ?? '';
    expect(said).toContain(`this is ${name}, not an export`);
    expect(said).toContain(then);
  });

  test('is not named by the first bytes of text or gzip', () => {
    expect(archiveIn(Buffer.from('{"kind":"header"}'))).toBeUndefined();
    expect(archiveIn(Buffer.from([0x1f, 0x8b, 8]))).toBeUndefined();
    expect(archiveIn(Buffer.from('{"name":"PK\u0003\u0004"}'))).toBeUndefined();
  });
});
