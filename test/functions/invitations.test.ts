import { matchRoute } from '../../shared/core/http/match-route.ts';
import { createInvitation, listInvitations } from '../../shared/features/members/invitation.ts';
import { faultsOn } from '../helpers/browser.ts';
import { routeOf } from '../helpers/routes.ts';
import { ask, pageFor, requestPage, textIn } from '../helpers/visit.ts';
import { makeModerator, makeUser } from '../helpers/world.ts';

const mia = await makeModerator('Mia');
const ann = await makeUser();

beforeEach(() => {
  process.env.MEMBERS = 'invited';
});

const linkOn = (html: string) => /<code class="copy">([^<]*)</.exec(html)?.[1] ?? '';
const open = (invitation: string) => requestPage(routeOf('show-join'), { path: { invitation } });

describe('the invitations of moderators', () => {
  test('a moderator makes a link, sees who came by it, and revokes it', async () => {
    const form = { people: '3', days: '30', note: 'Club <night>' };
    const made = await ask('create-invitation', mia, { form });
    expect(made).toHaveStatus(200);
    const link = linkOn(made.html);
    expect(link).toMatch(/\/ws\/join\/[\w-]{22}$/);
    expect(made.headers['cache-control']).toContain('no-store');
    expect(textIn(made.html)).toContain('until 3 people have joined');

    const list = await pageFor('show-invitations', mia);
    expect(textIn(list)).toContain('Club &lt;night&gt; 0 of 3');
    expect(list).not.toContain(link.slice(-22));
    const [invitation] = await listInvitations();
    const path = { invitation_id: `${invitation?.id}` };
    expect(list).toContain(`/account/moderation/invitations/${path.invitation_id}/revoke"`);

    const revoked = await ask('revoke-invitation', mia, { path });
    expect(revoked).toHaveStatus(303);
    expect(textIn(await pageFor('show-invitations', mia))).toContain('was revoked');
    const late = await open(link.slice(-22));
    expect(late).toHaveStatus(410);
    expect(late.body).toContain('<h1>This invitation has ended</h1>');
  });

  test.each([
    ['people', { people: '0' }],
    ['people', { people: '1001' }],
    ['people', { people: 'many' }],
    ['days', { days: '2' }],
    ['note', { note: 'x'.repeat(101) }],
  ])('a wrong field is named, and the rest is kept: %s', async (name, wrong) => {
    const before = (await listInvitations()).length;
    const form = { people: '3', days: '30', note: 'Club', ...wrong };
    const answer = await ask('create-invitation', mia, { form });
    expect(answer).toHaveStatus(400);
    expect(Object.keys(faultsOn(answer.shown))).toEqual(['', name]);
    expect(await listInvitations()).toHaveLength(before);
  });

  test('the tab is there only where the operator allows them, and so is the form', async () => {
    expect(await pageFor('show-cases', mia)).toContain('/account/moderation/invitations"');
    process.env.MEMBERS = '@club.example';
    expect(await pageFor('show-cases', mia)).not.toContain('/account/moderation/invitations"');
    const html = await pageFor('show-invitations', mia);
    expect(html).toContain('The operator has not allowed invitations here.');
    expect(html).not.toContain('name="people"');
    const form = { people: '3', days: '30', note: '' };
    expect(await ask('create-invitation', mia, { form })).toHaveStatus(400);
  });
});

describe('GET /join/{invitation}', () => {
  test('invites to sign in, and returns here', async () => {
    const { token } = await createInvitation({ people: 3, days: 1 });
    expect(matchRoute('GET', `/join/${token}`)?.route.operation).toBe('show-join');
    const { status, headers, body } = await open(token);
    expect(status).toBe(200);
    expect(headers['cache-control']).toContain('no-store');
    expect(body).toContain('<h1>You are invited to Reviews</h1>');
    const back = encodeURIComponent(`/ws/join/${token}`);
    expect(body).toMatch(new RegExp(`/account/sign-in\\?return_to=[^"]*${back}"`));
  });

  test('invites nobody where the operator takes no invitations by now', async () => {
    const { token } = await createInvitation({ people: 3, days: 1 });
    process.env.MEMBERS = '@club.example';
    const { status, body } = await open(token);
    expect(status).toBe(410);
    expect(body).toContain('This place takes no invitations now');
    expect(body).not.toContain('You are invited');
  });

  test('tells members that they have joined', async () => {
    const { token } = await createInvitation({ people: 3, days: 1 });
    const { status, html } = await ask('show-join', ann, { path: { invitation: token } });
    expect([status, html.includes('You have joined already')]).toEqual([200, true]);
  });

  test.each(['x'.repeat(22), 'x', '%00'])('is 404 for %j', async (token) => {
    expect(await open(token)).toHaveStatus(404);
  });
});
