import { faultOf, httpDate, integer, listOf, listWith, oneOf } from './suite/match.ts';

test.each([
  [{ a: 1, more: 2 }, { a: 1 }, undefined],
  [{ a: 1 }, { a: '1' }, "expected a: '1', got 1"],
  [{ a: 1 }, { a: undefined }, 'expected a: undefined, got 1'],
  [{ a: { b: null } }, { a: { b: integer } }, 'expected a.b: an integer, got null'],
  [[{ id: 1 }, { id: 2 }], [{ id: 1 }, { id: 2 }], undefined],
  [[{ id: 2 }, { id: 1 }], [{ id: 1 }, { id: 2 }], 'expected 0.id: 1, got 2'],
  [[{ id: 1 }, { id: 2 }], [{ id: 1 }], 'expected [ { id: 1 } ], got [ { id: 1 }, { id: 2 } ]'],
  [[], [{ id: 1 }], 'expected 0: { id: 1 }, got undefined'],
  [[1, 2, 'x'], listOf(integer), "expected 2: an integer, got 'x'"],
  [{}, listOf(integer), "expected { 'every element': an integer }, got {}"],
  [[1, 2], listWith(2), undefined],
  [[1, 2], listWith(3), "expected { 'some element': 3 }, got [ 1, 2 ]"],
  [null, oneOf(null, 'a'), undefined],
  ['b', oneOf(null, 'a'), "expected { 'one of': [ null, 'a' ] }, got 'b'"],
  ['limit must be 50', /limit/, undefined],
  [undefined, /limit/, 'expected /limit/, got undefined'],
  ['Tue, 15 Nov 1994 12:45:26 GMT', httpDate, undefined],
  ['Mon, 15 Nov 1994 12:45:26 GMT', httpDate, expect.stringContaining('an HTTP date')],
  ['1994-11-15T12:45:26Z', httpDate, expect.stringContaining('an HTTP date')],
])('%j against %j: %s', (value, expected, fault) => {
  expect(faultOf(value, expected)).toEqual(fault);
});
