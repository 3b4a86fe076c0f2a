import { Command, InvalidArgumentError, Option } from 'commander';
import { startStack } from '../infra/local/stack.ts';

const command = new Command('npm start --')
  .description('Runs the review service on this machine.')
  .addOption(
    new Option('--port <number>', 'where to listen, on localhost')
      .env('PORT')
      .default(3000)
      .argParser(port),
  )
  .addOption(
    new Option('--data-dir <folder>', 'where the data lives').env('DATA_DIR').default('.data'),
  )
  .option('--memory', 'keep the data of this run in memory, and forget it at the end')
  .addOption(
    new Option('--dynamodb-endpoint <url>', 'a DynamoDB to use instead of the embedded one').env(
      'DYNAMODB_ENDPOINT',
    ),
  )
  .parse();

const { port: number, dataDir, memory, dynamodbEndpoint } = command.opts();

function port(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number > 65_535) {
    throw new InvalidArgumentError('It must be a number from 0 (any free port) to 65535.');
  }
  return number;
}

process.on('unhandledRejection', (reason) => console.error('unhandled:', reason));

const oidcIssuer = process.env.OIDC_ISSUER;
const starting = startStack({ port: number, dataDir, memory, dynamodbEndpoint, oidcIssuer });

let signalled: number | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, async () => {
    // npm hands on the Ctrl-C that the terminal sent us as well: that is one signal, not two.
    if (signalled !== undefined && Date.now() - signalled > 500) process.exit(130);
    if (signalled !== undefined) return;
    signalled = Date.now();
    await starting.then(
      (stack) => stack.stop(),
      () => {},
    );
    process.exit(0);
  });
}

try {
  const { url, endpoint, failure, stop } = await starting;
  const kept = memory ? 'in memory until it stops' : dataDir;
  console.log(`The review service runs at ${url}
Its data is ${dynamodbEndpoint ? `at ${endpoint}` : kept}. Ctrl-C stops it.

Try     curl ${url}/review/languages
User    npm run admin -- user create --name Ann
Client  npm run admin -- app create --owner <user id> --name Demo --desc Demo --website http://localhost --redirect-uri http://localhost/callback
Token   npm run admin -- token issue --user <user id> --client <client id> --scope review,vote,user`);

  console.error(`Error: ${await failure}`);
  await stop();
  process.exit(1);
} catch (error) {
  console.error(`Error: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}
