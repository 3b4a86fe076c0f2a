import { expect, test } from '@jest/globals';
import { isFindable, isNameFor } from '../../../../shared/core/entity/state.ts';

const ann = { id: 'ann', isModerator: false };
const ben = { id: 'ben', isModerator: false };
const mia = { id: 'mia', isModerator: true };

test.each([
  ['a public name', {}, true],
  ['one that waits', { state: 'waiting' }, false],
  ['one that was removed', { state: 'removed' }, false],
  ['one that leads to another', { leads_to: 'other' }, false],
  ['one to which others lead', { led_from: ['other'] }, true],
  ['one that a search has found', { expires_at: 1 }, false],
  ['no name', { name: undefined }, false],
  ['a mark that there is none', { name: null }, false],
])('%s is found: %j %s', (_, record, expected) => {
  expect(isFindable({ name: 'Blue', ...record })).toBe(expected);
});

test.each([
  ['public', undefined, [undefined, ann, ben, mia], [true, true, true, true]],
  ['waiting', 'waiting', [undefined, ann, ben, mia], [false, true, false, true]],
  ['removed', 'removed', [undefined, ann, ben, mia], [false, false, false, false]],
] as const)('a name that is %s is read by whom it may concern', (_, state, viewers, expected) => {
  expect(viewers.map((viewer) => isNameFor({ state, user_id: 'ann' }, viewer))).toEqual(expected);
});
