import type { Command } from 'commander';
import { Grounds } from '../../shared/moderation/decision.ts';
import { allDecisions } from '../../shared/moderation/decision-log.ts';
import { decideReview, setHidden } from '../../shared/moderation/decision-repository.ts';
import { allowReview } from '../../shared/moderation/hidden-claims.ts';
import type { Report } from '../../shared/moderation/report.ts';
import { listReports } from '../../shared/moderation/report-repository.ts';
import { reasons } from '../../shared/moderation/verdict.ts';
import { eachOf } from '../../shared/table/query.ts';
import { Uuid } from '../../shared/values.ts';
import { answer, as } from './command.ts';

/** What a moderator does. The operator may do all of it, and is named in the log by no id. */
export function addModerationCommands(admin: Command): void {
  const review = admin.command('review').description('moderation of reviews');
  for (const [verb, is_hidden, description] of [
    ['hide', true, 'hides a review, or upholds that if its author appeals'],
    ['unhide', false, 'brings a hidden review back'],
  ] as const) {
    withReason(review.command(verb))
      .description(description)
      .argument('<review id>', 'the review', as(Uuid))
      .action(
        answer(async (id: string, grounds: Grounds) => {
          await setHidden(id, is_hidden, grounds);
          return { id, is_hidden };
        }),
      );
  }

  withReason(review.command('allow'))
    .description('lets an author review an entity again whose hidden review the author has deleted')
    .argument('<user id>', 'the author', as(Uuid))
    .argument('<entity id>', 'what was reviewed', as(Uuid))
    .action(
      answer(async (user_id: string, entity_id: string, grounds: Grounds) => {
        await allowReview(user_id, entity_id, { ...grounds, moderator_id: null });
        return { user_id, entity_id, is_allowed: true };
      }),
    );

  const report = admin.command('report').description('spam reports');
  report
    .command('list')
    .description('lists the reports that nobody has decided on, those of the oldest case first')
    .action(answer(async () => ({ reports: told(eachOf(listReports())) })));
  withReason(report.command('dismiss'))
    .description(
      'takes the reports of a review off the list; who has reported it cannot do so again',
    )
    .argument('<review id>', 'the review', as(Uuid))
    .action(
      answer(async (id: string, grounds: Grounds) => {
        const decision = await decideReview(id, 'dismiss', { ...grounds, moderator_id: null });
        return { id, dismissed: decision?.reports };
      }),
    );

  admin
    .command('decision')
    .description('the log of moderation')
    .command('list')
    .description('lists what moderators and operators have decided, newest first')
    .action(answer(async () => ({ decisions: eachOf(allDecisions()) })));
}

/** The options for the grounds of a decision. */
export function withReason(command: Command): Command {
  return command
    .option('--reason <reason>', `why: ${reasons.join(', ')}`, as(Grounds.entries.reason), 'other')
    .option(
      '--note <text>',
      'why, in words; the author of the review reads it',
      as(Grounds.entries.note),
      '',
    );
}

/** Rounds are for us. */
async function* told(reports: AsyncIterable<Report>): AsyncGenerator<Omit<Report, 'round'>> {
  for await (const { round: _, ...report } of reports) yield report;
}
