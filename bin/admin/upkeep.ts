import { type Command, Option } from 'commander';
import { eraseLeftovers, findLeftovers } from '../../shared/account/erase-leftovers.ts';
import { ClientId } from '../../shared/oauth/application.ts';
import { Uuid } from '../../shared/values.ts';
import { runAudit } from '../audit.ts';
import { rebuild } from '../bulk.ts';
import { showProgress } from '../progress.ts';
import { seed } from '../seed.ts';
import { answer, as, Count } from './command.ts';

/** What keeps the table in order, or fills it. */
export function addUpkeepCommands(admin: Command): void {
  admin
    .command('aggregates')
    .description('totals and rank trees of lists')
    .command('rebuild')
    .description('computes them anew from the table: after an incident, or a bulk load')
    .action(answer(() => rebuild(showProgress('Reading'))));

  admin
    .command('audit')
    .summary('recounts everything and reports differences')
    .description(
      'compares votes, karma, counts and ratings of every item with a recount. Exit status 1: a difference is left. 3: some items kept changing and could not be checked',
    )
    .option('--repair', 'repairs differences; items that change meanwhile are left alone')
    .option('--from <position>', 'goes on where an audit was interrupted: the position it printed')
    .action(answer((options: { repair?: boolean; from?: string }) => runAudit(options)));

  admin
    .command('erase')
    .summary('erases what has been left behind')
    .description(
      'erases what deleted accounts, reviews and applications have left behind: all of it, or that of one',
    )
    .option('--user <user id>', 'only of this account', as(Uuid))
    .addOption(
      new Option('--review <review id>', 'only of this review')
        .argParser(as(Uuid))
        .conflicts('user'),
    )
    .addOption(
      new Option('--application <client id>', 'only of this application')
        .argParser(as(ClientId))
        .conflicts(['user', 'review']),
    )
    .action(
      answer(async (one: { user?: string; review?: string; application?: string }) => {
        const [id] = Object.values(one);
        if (id === undefined) return eraseLeftovers(await findLeftovers(showProgress('Reading')));
        const erased = await eraseLeftovers({
          users: [one.user ?? []].flat(),
          reviews: [one.review ?? []].flat(),
          applications: [one.application ?? []].flat(),
        });
        if (Object.values(erased).every((count) => count === 0)) {
          throw new Error(`${id} has not been deleted, so nothing of it was erased`);
        }
        return erased;
      }),
    );

  admin
    .command('seed')
    .summary('fills the table with synthetic data')
    .description('fills the table with synthetic data, the same for the same options')
    .option('--reviews <number>', 'how many reviews', as(Count), 1000)
    .option('--users <number>', 'how many users write and vote', as(Count), 100)
    .option(
      '--entities <number>',
      'how many entities they review (default: a twentieth of the reviews)',
      as(Count),
    )
    .option('--seed <number>', 'another number makes other data', as(Count), 1)
    .action(
      answer(
        (options: { reviews: number; users: number; entities?: number; seed: number }) =>
          seed(options),
        { isForDevelopment: true },
      ),
    );
}
