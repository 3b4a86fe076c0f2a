import { notFound } from '../../shared/base/errors.ts';
import { pick } from '../../shared/base/pick.ts';
import { oneOf, Uuid } from '../../shared/base/values.ts';
import {
  type Application,
  ClientId,
  type ClientType,
  clientTypes,
  isPublicClient,
  presentApplication,
  previousSecret,
  Registration,
} from '../../shared/core/oauth/application.ts';
import {
  deleteApplication,
  endPreviousSecret,
  findApplication,
  insertApplication,
  listApplications,
  revokeApplication,
  rotateSecret,
  scanApplications,
  setClientType,
} from '../../shared/core/oauth/application-repository.ts';
import { getUser } from '../../shared/core/user/user-repository.ts';
import { type AdminCommand, as, found } from './command.ts';

const { name, desc, website, redirect_uri } = Registration.entries;

type NewApplication = Omit<Registration, 'redirect_uri'> & {
  owner: string;
  redirectUri: string;
  public?: true;
};

export function addApplicationCommands(admin: AdminCommand): void {
  const app = admin.command('app').description('applications that act for users');

  app
    .command('list')
    .description('lists applications without their secrets. Without --owner, reads the whole table')
    .option('--owner <user id>', 'only applications of this account, oldest first', as(Uuid))
    .option(
      '--find <text>',
      'only applications with this text in the name, website, redirect URI, client id or owner id',
    )
    .answer(async ({ owner, find = '' }: { owner?: string; find?: string }) => {
      if (owner !== undefined) await getUser(owner);
      const pages = owner === undefined ? scanApplications() : [await listApplications(owner)];
      const fields = ['client_id', 'name', 'website', 'redirect_uri', 'user_id'] as const;
      const present = (one: Application) => ({
        ...pick(one, [...fields, 'created']),
        client_type: typeOf(one),
      });
      return { applications: found(find, fields, pages, present) };
    });

  app
    .command('show')
    .description('shows an application with its client secret')
    .argument('<client id>', 'the application', as(ClientId))
    .answer(present);

  app
    .command('create')
    .description('registers an application and prints its client id and secret')
    .required('--owner <user id>', 'the account that owns it', Uuid)
    .required('--name <name>', 'the name that people see', name)
    .required('--desc <text>', 'what the application does; may be empty', desc)
    .required('--website <url>', 'http or https', website)
    .required(
      '--redirect-uri <url>',
      'https, or http on a loopback host; no fragment',
      redirect_uri,
    )
    .option('--public', 'without a secret, for a browser or people’s devices')
    .answer(async ({ owner, redirectUri: redirect_uri, ...rest }: NewApplication) => {
      const { public: isPublic, ...registration } = { ...rest, redirect_uri };
      const type = isPublic ? 'public' : 'confidential';
      const application = await insertApplication(owner, registration, undefined, type);
      return presentApplication(application, true);
    });

  app
    .command('type')
    .description(
      'makes an application public, which ends its secrets and its access to every account, or confidential, which gives it a secret',
    )
    .argument('<client id>', 'the application', as(ClientId))
    .argument('<type>', 'confidential or public', as(oneOf(clientTypes)))
    .option('--yes', 'skips the confirmation')
    .answer(async (id: string, type: ClientType, _: object, command: AdminCommand) => {
      const { name, user_id } = await getApplication(id);
      if (type === 'public') {
        await command.confirm(`Delete the secret of ${name}, and end its access to every account?`);
      }
      await setClientType(id, user_id, type);
      return present(id);
    });

  app
    .command('rotate')
    .description('creates a new client secret; the old secret stays valid for a day')
    .argument('<client id>', 'the application', as(ClientId))
    .option('--end-previous', 'creates no secret; ends the previous secret now')
    .answer(async (id: string, { endPrevious = false }: { endPrevious?: boolean }) => {
      const application = await getApplication(id);
      if (!endPrevious && previousSecret(application)) {
        throw new Error(
          'The application already has two secrets. End the previous secret with --end-previous, then rotate again.',
        );
      }
      await (endPrevious ? endPreviousSecret : rotateSecret)(id, application.user_id);
      return present(id);
    });

  for (const [verb, description, question, end] of [
    [
      'revoke',
      'ends the access of an application to every account, for example after a leak',
      (name: string) => `End the access of ${name} to every account?`,
      revokeApplication,
    ],
    [
      'delete',
      'deletes an application, which ends its access to every account',
      (name: string) => `Delete the application ${name}?`,
      deleteApplication,
    ],
  ] as const) {
    app
      .command(verb)
      .description(description)
      .argument('<client id>', 'the application', as(ClientId))
      .option('--yes', 'skips the confirmation')
      .answer(async (id: string, _: object, command: AdminCommand) => {
        const { name, user_id } = await getApplication(id);
        await command.confirm(question(name));
        await end(id, user_id);
        return { client_id: id, [`is_${verb}d`]: true };
      });
  }
}

/** Throws ApiError 404. */
export async function getApplication(id: string): Promise<Application> {
  const application = await findApplication(id);
  if (!application) throw notFound('Application');
  return application;
}

const typeOf = (application: Application): ClientType =>
  isPublicClient(application) ? 'public' : 'confidential';

/** The application as the API presents it, with three more fields that only the pages show. */
async function present(id: string) {
  const application = await getApplication(id);
  return {
    ...(await presentApplication(application, true)),
    created: application.created,
    client_type: typeOf(application),
    previous_secret_until: previousSecret(application)?.until ?? null,
  };
}
