import type { Command } from 'commander';
import { dismissReports, listReports } from '../../shared/review/report-repository.ts';
import { setHidden } from '../../shared/review/review-repository.ts';
import { Uuid } from '../../shared/values.ts';
import { answer, as } from './command.ts';

/** What a moderator does. */
export function addModerationCommands(admin: Command): void {
  const review = admin.command('review').description('moderation of reviews');
  for (const [verb, is_hidden, description] of [
    ['hide', true, 'takes a review from the public'],
    ['unhide', false, 'brings a hidden review back'],
  ] as const) {
    review
      .command(verb)
      .description(description)
      .argument('<review id>', 'the review', as(Uuid))
      .action(
        answer(async (id: string) => {
          await setHidden(id, is_hidden);
          return { id, is_hidden };
        }),
      );
  }

  const report = admin.command('report').description('spam reports');
  report
    .command('list')
    .description('lists the reports that nobody has dismissed, oldest first')
    .action(answer(async () => ({ reports: each(listReports()) })));
  report
    .command('dismiss')
    .description(
      'takes the reports of a review off the list; who has reported it cannot do so again',
    )
    .argument('<review id>', 'the review', as(Uuid))
    .option('--user <user id>', 'only that of this account', as(Uuid))
    .action(
      answer(async (id: string, { user }: { user?: string }) => {
        const dismissed = await dismissReports(id, user);
        if (dismissed === 0) throw new Error(`no report of the review ${id} is on the list`);
        return { id, dismissed };
      }),
    );
}

async function* each<T>(pages: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const page of pages) yield* page;
}
