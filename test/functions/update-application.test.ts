import { findApplication } from '../../shared/core/oauth/application-repository.ts';
import { makeClient } from '../helpers/oauth-client.ts';
import { ask } from '../helpers/visit.ts';
import { makeUser } from '../helpers/world.ts';

const owner = await makeUser();
const { client_id, redirect_uri, website } = await makeClient(owner);

function rename(name: string, desc = '') {
  const form = { name, desc, website, redirect_uri };
  return ask('update-application', owner, { path: { client_id }, form });
}

describe('POST /account/applications/{client_id}', () => {
  // The rules are those of names of people: see update-me.test.ts.
  test.each([' Reviews ', 'می‌خواهم', '🎷'.repeat(64)])('accepts the name %j', async (name) => {
    expect(await rename(name)).toHaveStatus(303);
    expect(await findApplication(client_id)).toMatchObject({ name });
  });

  test.each(['', 'x'.repeat(65), '\u3164', 'Goog\u200ble', '\u202eelgooG', '\u200ca'])(
    'refuses the name %j',
    async (name) => {
      const before = await findApplication(client_id);
      const { status, body } = await rename(name);
      expect(status).toBe(400);
      expect(body).toMatch(/id="name-fault">(It must .*|Please fill this in)\.</);
      expect(await findApplication(client_id)).toEqual(before);
    },
  );

  test('accepts an invisible description, but none with U+0000', async () => {
    expect(await rename('Reviews', ' \u200b')).toHaveStatus(303);
    const { status, body } = await rename('Reviews', 'a\0b');
    expect(status).toBe(400);
    expect(body).toContain('id="desc-fault">It must not contain U+0000.<');
  });
});
