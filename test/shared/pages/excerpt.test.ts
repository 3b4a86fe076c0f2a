import { excerptOf } from '../../../shared/pages/review/written-parts.ts';

test.each([
  ['a short text as it is', 'Hi there', 20, 'Hi there'],
  ['lines as one', ' Hi\n\nthere ', 20, 'Hi there'],
  ['up to the end of a word', 'Nineteen words of one long text', 20, 'Nineteen words of…'],
  ['a word that ends at the limit', 'Nineteen words of it and more', 20, 'Nineteen words of it…'],
  ['a script without spaces anywhere', `Hi ${'千'.repeat(30)}`, 20, `Hi ${'千'.repeat(17)}…`],
  ['no surrogate pair in two', `a${'😀'.repeat(20)}`, 20, `a${'😀'.repeat(9)}…`],
  ['no family in two', '👨‍👩‍👧'.repeat(5), 20, `${'👨‍👩‍👧'.repeat(2)}…`],
  ['no accent from its letter', `${'e\u0301'.repeat(20)}`, 19, `${'e\u0301'.repeat(9)}…`],
])('an excerpt has %s', (_, text, most, excerpt) => {
  expect(excerptOf(text, most)).toBe(excerpt);
});
