import { Option } from 'commander';
import { eraseLeftovers, findLeftovers } from '../../shared/account/erase-leftovers.ts';
import { ClientId } from '../../shared/oauth/application.ts';
import { Uuid } from '../../shared/values.ts';
import { runAudit } from '../audit.ts';
import { rebuild } from '../bulk.ts';
import { showProgress } from '../progress.ts';
import { seed } from '../seed.ts';
import { type AdminCommand, as, Count } from './command.ts';

export function addUpkeepCommands(admin: AdminCommand): void {
  admin
    .command('aggregates')
    .description('totals and rank trees of lists')
    .command('rebuild')
    .description('recomputes them from the table, after an incident or a bulk load')
    .answer(() => rebuild(showProgress('Reading')));

  admin
    .command('audit')
    .summary('recounts everything and reports differences')
    .description(
      'compares votes, karma, counts and ratings of every item with a recount. Exit status 1: differences remain. Exit status 3: some items kept changing and could not be checked',
    )
    .option('--repair', 'repairs differences, except of items that change during the audit')
    .option('--from <position>', 'continues an interrupted audit from a position that it printed')
    .answer(runAudit);

  admin
    .command('erase')
    .summary('erases leftovers of deleted data')
    .description(
      'erases leftovers of deleted accounts, reviews and applications: of all of them, or of one',
    )
    .option('--user <user id>', 'only leftovers of this account', as(Uuid))
    .addOption(
      new Option('--review <review id>', 'only leftovers of this review')
        .argParser(as(Uuid))
        .conflicts('user'),
    )
    .addOption(
      new Option('--application <client id>', 'only leftovers of this application')
        .argParser(as(ClientId))
        .conflicts(['user', 'review']),
    )
    .answer(async (one: { user?: string; review?: string; application?: string }) => {
      const [id] = Object.values(one);
      if (id === undefined) return eraseLeftovers(await findLeftovers(showProgress('Reading')));
      const erased = await eraseLeftovers({
        users: [one.user ?? []].flat(),
        reviews: [one.review ?? []].flat(),
        applications: [one.application ?? []].flat(),
      });
      if (Object.values(erased).every((count) => count === 0)) {
        throw new Error(`${id} has not been deleted, so nothing was erased`);
      }
      return erased;
    });

  admin
    .command('seed')
    .summary('fills the table with synthetic data')
    .description('fills the table with synthetic data. The same options give the same data')
    .option('--reviews <number>', 'the number of reviews', as(Count), 1000)
    .option('--users <number>', 'the number of users who write and vote', as(Count), 100)
    .option(
      '--entities <number>',
      'the number of entities (default: a twentieth of the reviews)',
      as(Count),
    )
    .option('--seed <number>', 'the seed of the random data', as(Count), 1)
    .answer(seed, { isForDevelopment: true });
}
