/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,board_game:Board game"}} */
import { program } from '../../bin/admin/program.ts';
import { archive } from '../helpers/critiquebrainz-archive.ts';
import { freePort } from '../helpers/listen.ts';
import { addWebhook, makeMember, reviewFilm, shell, startOperator } from '../helpers/operator.ts';
import { fresh } from '../helpers/service.ts';

// Each command of the operator's tool, on a service with every option.

type Commands = ReturnType<typeof program>;

/** Returns the words of each command that has no commands of its own. */
function leavesOf(command: Commands['commands'][number], words: string[] = []): string[] {
  if (command.commands.length === 0) return [words.join(' ')];
  return command.commands.flatMap((each) => leavesOf(each, [...words, each.name()]));
}

const operator = await startOperator();

test('every command works on a service with every option, from DATA_DIR alone', async () => {
  const { service, env } = operator;
  const used = new Set<string>();
  const leaves = leavesOf(program());

  /** Runs a command, which must succeed, and notes that it was used. */
  async function run(words: string, ...args: string[]) {
    used.add(words);
    return operator.admin(...words.split(' '), ...args);
  }

  expect(await run('check')).toEqual({
    identity_provider: 'people sign in at this service',
    mail_server: 'none: set SMTP_URL and MAIL_FROM, if the service has them',
  });
  // The seed has reviews of all types, also of films.
  await run('seed', '--reviews', '60', '--users', '20', '--entities', '10');
  const ann = await makeMember(operator, 'Ann');
  const ben = await makeMember(operator, 'Ben');
  used.add('user create').add('token create');
  const issuer = 'https://id.example';
  const { before } = await run('user link', ben.id, '--issuer', issuer, '--subject', 'ben');
  await run('user relink', '--from', issuer, '--to', 'https://other-id.example');
  await run('user unlink', ben.id);
  await run('user link', ben.id, '--identity', `${before}`);
  await run('user promote', ben.id);
  await run('user demote', ben.id);

  const { id, entity_id } = await reviewFilm(operator, ann);
  const held = await service.url;
  expect(await fetch(`${held}/review/${id}`)).toHaveStatus(404);
  await run('review unhide', id);
  expect(await fetch(`${held}/review/${id}`)).toHaveStatus(200);
  // With one review to approve, no edit of a public review ever waits.
  used.add('review refuse');
  const refusal = await shell(`npm run -s admin -- review refuse ${id} --reason spam`, env);
  expect(refusal).toMatchObject({ code: 1, stderr: expect.stringMatching(/wait/) });
  // Ann has a public review, so nothing of hers waits any longer.
  const second = await reviewFilm(operator, ann);
  expect(await ann.call('GET', `/review/${second.id}`)).toHaveStatus(200);
  await ben.call('POST', `/review/${id}/report`, { reason: 'spam' });
  expect(await run('report list')).toMatchObject({ reports: [{ review_id: id }] });
  await run('report dismiss', id);
  await run('review hide', second.id, '--reason', 'spam');
  await ann.call('DELETE', `/review/${second.id}`);
  expect(await run('user show', ann.id)).toMatchObject({
    hidden_and_deleted: [{ entity_type: 'film', entity_id: second.entity_id }],
  });
  const third = await reviewFilm(operator, ann);
  await ben.call('POST', `/review/${third.id}/report`, { reason: 'abuse' });
  await ann.call('DELETE', `/review/${third.id}`);

  const name = ['film', entity_id, '--name', 'Metropolis'];
  const image = { about: null, url: null };
  expect(await run('entity name', ...name)).toMatchObject({ name: 'Metropolis', ...image });
  expect(await run('entity show', 'film', entity_id)).toMatchObject({
    name: 'Metropolis',
    ...image,
  });
  expect(await run('entity find', 'metro')).toMatchObject({ entities: [{ entity_type: 'film' }] });
  const thing = ['film', entity_id];
  expect(await run('entity confirm', ...thing)).toMatchObject({ state: 'public' });
  expect(await run('entity lead', ...thing, '--to', third.entity_id)).toMatchObject({
    leads_to: third.entity_id,
  });
  expect(await run('entity return', ...thing)).toMatchObject({ leads_to: null });
  expect(await run('entity remove', ...thing, '--hide-reviews')).toMatchObject({
    state: 'removed',
  });
  expect(await run('entity return', ...thing)).toMatchObject({ state: 'public' });

  const redirect = `http://127.0.0.1:${await freePort()}/callback`;
  const { client_id, webhook_id: webhook } = await addWebhook(operator, ann.id, redirect);
  used.add('app create').add('webhook list');
  await run('app show', client_id);
  await run('app rotate', client_id);
  await run('app list');
  const issued = ['--user', ben.id, '--client', client_id];
  const { access_token } = await run('token issue', ...issued);
  await run('token list', '--user', ben.id);
  expect(await run('token show', access_token)).toMatchObject({ is_good: true });
  await run('token revoke', ...issued);

  await run('webhook show', webhook);
  await run(
    'webhook replay',
    webhook,
    '--from',
    new Date().toISOString().slice(0, 16).replace('T', ' '),
  );
  await run('webhook pause', webhook);

  await run('user block', ben.id, '--hide-all');
  await run('user unblock', ben.id);
  const to = 'ben@new.example';
  expect(await run('user move', ben.id, '--to', to)).toMatchObject({ id: ben.id, to });
  const invited = ['--people', '2', '--days', '1', '--note', 'Club night'];
  const { id: invitation } = await run('invitation create', ...invited);
  expect(await run('invitation revoke', invitation)).toEqual({ id: invitation, is_revoked: true });
  expect(await run('invitation list')).toMatchObject({ invitations: [{ is_open: false }] });
  await run('review allow', ann.id, second.entity_id);
  expect(await run('decision list')).toMatchObject({ decisions: expect.any(Array) });
  await run('user list');
  await run('aggregates rebuild');
  await run('changes restart');
  expect(await run('audit')).toMatchObject({ differences: 0 });

  const everything = fresh('everything.jsonl.gz');
  await run('export', '--out', everything);
  expect(await run('import', everything)).toMatchObject({ refused: {} });
  expect(await run('export', '--public', '--out', fresh('dump'))).toMatchObject({
    files: { 'entities.jsonl.gz': { counts: { entity: 3 } } },
  });
  const archives = [
    await archive(fresh('cbdump.tar.bz2'), { user_sanitised: [], license: [] }),
    await archive(fresh('reviews.tar.bz2'), { review: [], revision: [], vote: [] }),
  ];
  await run('import', '--format', 'critiquebrainz', ...archives);

  const backup = fresh('backup');
  await run('backup', backup);
  used.add('restore');
  const other = { ...env, DATA_DIR: fresh('other') };
  expect(await shell(`npm run -s admin -- restore ${backup}`, other)).toMatchObject({ code: 0 });
  for (const type of ['public', 'confidential']) {
    const changed = await run('app type', client_id, type, '--yes');
    expect(changed).toMatchObject({ client_id, client_type: type });
  }
  await run('app revoke', client_id, '--yes');
  await run('app delete', client_id, '--yes');
  await run('user delete', ben.id, '--yes');
  await run('erase');
  await run('key rotate');
  await run('key retire');

  expect([...used].sort()).toEqual(leaves.toSorted());
  await operator.copyToAccount();
  const onAws = await shell(
    `npm run -s admin -- --stack reviews entity show film ${entity_id}`,
    env,
  );
  expect(onAws).toMatchObject({ code: 0, stdout: expect.stringContaining('Metropolis') });
  await service.end('SIGTERM');
}, 300_000);
