import { handler } from '../../functions/api/list-languages.ts';
import { invoke } from '../helpers/invoke.ts';

test('GET /review/languages returns every ISO 639-1 code, sorted', async () => {
  const { status, body } = await invoke(handler);
  expect(status).toBe(200);
  expect(Object.keys(body)).toEqual(['languages']);
  expect(body.languages).toEqual(expect.arrayContaining(['de', 'en', 'ja', 'zh', 'zu']));
  expect(body.languages).toEqual(body.languages.toSorted());
  expect(new Set(body.languages).size).toBe(183);
  for (const code of body.languages) expect(code).toMatch(/^[a-z]{2}$/);
});
