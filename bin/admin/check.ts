import { runningStack } from '../../infra/local/storage/connect.ts';
import { checkProvider } from '../../shared/features/account/public.ts';
import {
  checkMailServer,
  MailError,
  readMailSettings,
} from '../../shared/features/notices/public.ts';
import type { AdminCommand, GlobalOptions } from './command.ts';

export function addCheckCommand(admin: AdminCommand): void {
  admin
    .command('check')
    .description(
      'tries the identity provider and the mail server with the settings of the service, without a person and without a mail; the exit status is 1 if one does not answer as it must',
    )
    .action(async (_: object, command: AdminCommand) => {
      await command.connect();
      const { stack, dataDir } = command.optsWithGlobals<GlobalOptions>();
      const isEmbedded = stack === undefined && runningStack(dataDir).identity_provider !== null;
      const result = {
        identity_provider: isEmbedded ? 'people sign in at this service' : await tryProvider(),
        mail_server: await tryMailServer(),
      };
      await command.print(result);
      if (Object.values(result).some((word) => word.startsWith(failed))) process.exitCode = 1;
    });
}

const failed = 'failed: ';

async function tryProvider(): Promise<string> {
  if (!process.env.OIDC_ISSUER) {
    return `${failed}set OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET, as for the service`;
  }
  try {
    await checkProvider();
    return `${process.env.OIDC_ISSUER} answers, and knows this service`;
  } catch (error) {
    return failed + (error as Error).message;
  }
}

async function tryMailServer(): Promise<string> {
  try {
    const settings = readMailSettings(process.env);
    if (!settings) return 'none: set SMTP_URL and MAIL_FROM, if the service has them';
    await checkMailServer(settings);
    return 'takes mails of this service';
  } catch (error) {
    const { message } = error as Error;
    return (
      failed + (error instanceof MailError ? `the mail server takes no mails: ${message}` : message)
    );
  }
}
