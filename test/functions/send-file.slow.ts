import { setTimeout as sleep } from 'node:timers/promises';
import { callerOf } from '../helpers/api.ts';
import { connectTo } from '../helpers/connect.ts';
import { admin, fresh, type Service, start } from '../helpers/service.ts';

const { SIGNING_KEYS, SESSION_KEYS } = process.env;
const dataDir = fresh('data');
const rows = 1_000;
const options = ['--quiet', '--own-types', 'film:Film'];
const startService = () => start(dataDir, { options, env: { SIGNING_KEYS, SESSION_KEYS } });

const file = [
  'Date,Name,Year,Letterboxd URI,Rating,Rewatch,Review,Tags,Watched Date',
  ...Array.from({ length: rows }, (_, i) => {
    const review = i % 4 === 0 ? `"A film of many words, ""long"" ones,\nnumber ${i}."` : '';
    return `2024-03-02,Film ${i},${1925 + (i % 100)},https://boxd.it/${i},${(1 + (i % 10)) / 2},,${review},,2024-03-01`;
  }),
].join('\r\n');

test(`a file of ${rows} rows is brought over two kills, and undone`, async () => {
  let service = await startService();
  connectTo(dataDir);
  const { makeUser } = await import('../helpers/world.ts');
  const { formWithFile, signInAs } = await import('../helpers/visit.ts');
  const ann = await makeUser({ created: '2026-01-01T12:00:00.000Z' });
  const { cookie, csrf } = await signInAs(ann.id);
  // Over plain HTTP, a cookie has no prefix.
  const headers = { Cookie: cookie.replace('__Host-', '') };
  const at = ({ url }: Service, path = '') => `${url.slice(0, -2)}/account/files${path}`;
  const show = async () => (await fetch(at(service, '/1'), { headers })).text();
  const countOf = (html: string, what: string) =>
    Number(new RegExp(`${what}[^<]*</td><td data-name="Rows">(\\d+)`).exec(html)?.[1] ?? 0);
  const decide = async (form: Record<string, string>) => {
    const body = new URLSearchParams({ csrf, ...form });
    const answer = await fetch(at(service, '/1'), {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
    });
    expect(answer).toHaveStatus(303);
  };
  /** Waits for the end of the work, over this many kills, and returns the page and seconds. */
  const finish = async (kills = 0) => {
    const begin = performance.now();
    for (let left = kills, html = await show(); ; html = await show()) {
      const percent = Number(/value="(\d+)"/.exec(html)?.[1] ?? 100);
      if (!html.includes('<progress')) {
        expect(left).toBe(0);
        return { html, seconds: (performance.now() - begin) / 1000 };
      }
      if (left > 0 && percent > 100 - (100 * left) / (kills + 1)) {
        await service.end('SIGKILL');
        service = await startService();
        left--;
      }
      await sleep(100);
    }
  };

  const { type, body } = await formWithFile({ csrf, entity_type: '', file });
  const sent = await fetch(at(service), {
    method: 'POST',
    headers: { ...headers, 'Content-Type': type },
    body,
    redirect: 'manual',
  });
  expect(sent).toHaveStatus(303);
  const found = await finish();
  expect(countOf(found.html, 'Film that is not here yet')).toBe(rows);

  const choices = { as: 'public', halves: 'up', language: 'en', license_choice: 'CC0 1.0' };
  await decide({ decision: 'bring', ...choices });
  const brought = await finish(2);
  expect(countOf(brought.html, 'Published')).toBe(rows);
  const reviews = async () =>
    (await callerOf(service.url)('GET', `/review/?user_id=${ann.id}&limit=0`)).body.count;
  expect(await reviews()).toBe(rows);

  await decide({ decision: 'undo' });
  const undone = await finish();
  expect(countOf(undone.html, 'Deleted again')).toBe(rows);
  expect(await reviews()).toBe(0);
  expect(service.err).toEqual([]);
  expect(await admin(dataDir, ['audit'])).toMatchObject({ differences: 0 });
  expect(await service.end('SIGTERM')).toBe(0);
  const seconds = [found, brought, undone].map((each) => each.seconds.toFixed(1));
  process.stderr.write(
    `${rows} rows: looked up in ${seconds[0]} s, brought over two kills in ${seconds[1]} s, undone in ${seconds[2]} s\n`,
  );
}, 600_000);
