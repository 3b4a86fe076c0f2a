/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,board_game:Board game"}} */
import { expect, test } from '@jest/globals';
import { readGroups } from '../../../../shared/core/entity/group-names.ts';
import { refuseUnknownTypes } from '../../../../shared/core/entity/picture.ts';
import { manyThings, oneThing, shownGroups } from '../../../../shared/pages/entity/shown-groups.ts';
import { ask } from '../../../helpers/visit.ts';
import { makeUser } from '../../../helpers/world.ts';

test.each<[Record<string, string>, groups: string[], many: string, one: string]>([
  [{}, ['own'], 'Film and Board game', 'something (Film, Board game)'],
  [
    { MUSICDB_API: 'https://m.example/{id}', MUSICDB_PAGE: 'https://m.example/{id}' },
    ['own', 'musicdb'],
    'Film, Board game, albums, events and more',
    'something (Film, Board game, album, event)',
  ],
  [{ SHOWN_GROUPS: 'bookdb' }, ['bookdb'], 'books and more', 'a book'],
  [
    { SHOWN_GROUPS: 'bookdb, musicdb' },
    ['musicdb', 'bookdb'],
    'albums, events, books and more',
    'an album, event or book',
  ],
])('with %j a place is about %j', (environment, groups, many, one) => {
  Object.assign(process.env, environment);
  expect([...shownGroups().keys()]).toEqual(groups);
  expect([manyThings(), oneThing()]).toEqual([many, one]);
});

test('settings with an unknown group or type are refused with a sentence', () => {
  expect(() => readGroups('own,films')).toThrow('SHOWN_GROUPS: films must be one of');
  const pictures = 'relase_group=https://images.example/{id}';
  expect(() => refuseUnknownTypes(pictures, 'film:Film')).toThrow('relase_group must be one of');
  expect(() => refuseUnknownTypes('film=https://images.example/{id}', 'film:Film')).not.toThrow();
});

test('pages of a club of films say nothing of music and books', async () => {
  for (const operation of [
    'find-entity',
    'show-home',
    'show-help',
    'show-things',
    'show-reviews',
    'show-docs',
  ]) {
    const { status, html } = await ask(operation, await makeUser());
    expect(status).toBe(200);
    const main = html.slice(html.indexOf('<main'));
    expect([operation, main.match(/album|\bbook|music|\bEP\b|musicbrainz/i)]).toEqual([
      operation,
      null,
    ]);
  }
});
