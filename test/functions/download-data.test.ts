/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import { csvOf } from '../../shared/features/account/csv.ts';
import { readOwnData } from '../../shared/features/account/export.ts';
import { addFilm } from '../helpers/things.ts';
import { ask } from '../helpers/visit.ts';
import { makeUsers, type Person } from '../helpers/world.ts';

async function filmReviewedBy(ann: Person, name: string, about: string, text: string) {
  const { entity } = await addFilm(ann, name, { about });
  return ann.publishes({ ...entity, text, rating: 4, language: 'en' });
}

test('the table of own reviews has titles, years and dates, and texts as they were typed', async () => {
  const [ann] = await makeUsers(1);
  const texts = [
    'Quiet, "slow"\nand long enough to say so.',
    '=HYPERLINK("x") is no formula here.',
  ];
  await filmReviewedBy(ann, '千と千尋の神隠し', '宮崎駿 · 2001', texts[0] as string);
  await filmReviewedBy(ann, 'Metropolis, restored', 'Fritz Lang · 1927', texts[1] as string);
  await ann.publishes({ rating: 2, text: null, is_draft: true });
  const { status, body, headers } = await ask('download-data', ann, { query: { format: 'csv' } });
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(headers['content-disposition']).toBe('attachment; filename="my-reviews.csv"');
  const [head, ...rows] = `${body}`.split('\r\n');
  expect(head).toBe(
    '\ufeffTitle,Year,About,Type,Date,Rating,Review,Language,Licence,State,Address,Id',
  );
  const day = new Date().toISOString().slice(0, 10);
  const text = '"Quiet, ""slow""\nand long enough to say so."';
  expect(rows.find((row) => row.startsWith('千'))).toMatch(
    new RegExp(`^千と千尋の神隠し,2001,宮崎駿 · 2001,film,${day},4,${text},en,`),
  );
  const safe = `"'=HYPERLINK(""x"") is no formula here."`;
  const other = rows.find((row) => row.includes('restored'));
  expect(other).toContain(`"Metropolis, restored",1927,Fritz Lang · 1927,film,${day},4,${safe},en`);
  expect(rows.some((row) => row.includes(',draft,'))).toBe(true);
  expect(rows.at(-1)).toBe('');
  expect(csvOf([]).split('\r\n')).toHaveLength(2);
});

test('the export names what is reviewed and voted on, unless it has no name or is hidden', async () => {
  const [ann, ben] = await makeUsers(2);
  const id = await filmReviewedBy(
    ann,
    'Solaris',
    'Andrei Tarkovsky · 1972',
    'A planet that remembers us.',
  );
  const hidden = await ann.publishesHidden();
  await ben.votes(id);
  const named = { name: 'Solaris', about: 'Andrei Tarkovsky · 1972' };
  const own = await readOwnData(ann.id);
  expect(own.reviews.find((each) => each.id === id)?.entity).toMatchObject(named);
  expect(own.reviews.find((each) => each.id === hidden)?.entity).toBeNull();
  const { votes } = await readOwnData(ben.id);
  expect(votes).toMatchObject([{ review_id: id, entity: named }]);
});
