import { parseCopy } from '../../../../shared/features/transfer/critiquebrainz-archive.ts';

test.each([
  ['a\tb', ['a', 'b']],
  ['\\N\t', [null, '']],
  ['\\\\N\t\\N', ['\\N', null]],
  ['\\b\\f\\n\\r\\t\\v\\\\', ['\b\f\n\r\t\v\\']],
  ['\\\\n', ['\\n']],
  ['a\\\\\\nb', ['a\\\nb']],
  ['\\x41\\x4a\\x9', ['AJ\t']],
  ['\\101\\60', ['A0']],
  ['\\303\\251\\xc3\\xa9', ['éé']],
  ['\\.', ['.']],
  ['\\q', ['q']],
  ['\u2028\u0085\ufeff🎵', ['\u2028\u0085\ufeff🎵']],
])('reads the row %j of COPY', (line, values) => {
  expect(parseCopy(line)).toEqual(values);
});
