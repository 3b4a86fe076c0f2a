import { eachOf } from '../../shared/base/table/query.ts';
import { Uuid } from '../../shared/base/values.ts';
import { Grounds } from '../../shared/core/report/decision.ts';
import { allDecisions } from '../../shared/core/report/decision-log.ts';
import { decideReview, setHidden } from '../../shared/core/report/decision-repository.ts';
import { listReports } from '../../shared/core/report/report-repository.ts';
import { reasons } from '../../shared/core/review/verdict.ts';
import { allowReview } from '../../shared/features/moderation/public.ts';
import { type AdminCommand, as } from './command.ts';

/** An operator may do all that a moderator may. The decision log then has no moderator id. */
export function addModerationCommands(admin: AdminCommand): void {
  const review = admin.command('review').description('moderation of reviews');
  for (const [verb, is_hidden, description] of [
    ['hide', true, 'hides a review, or upholds the decision if its author has appealed'],
    ['unhide', false, 'restores a hidden review, or approves what waits'],
  ] as const) {
    withReason(review.command(verb))
      .description(description)
      .argument('<review id>', 'the review', as(Uuid))
      .answer(async (id: string, grounds: Grounds) => {
        await setHidden(id, is_hidden, grounds);
        return { id, is_hidden };
      });
  }

  withReason(review.command('refuse'))
    .description('drops the new text of a newcomer, which waits; the review stays as it is')
    .argument('<review id>', 'the review', as(Uuid))
    .answer(async (id: string, grounds: Grounds) => {
      await decideReview(id, 'refuse', asOperator(grounds));
      return { id, is_refused: true };
    });

  withReason(review.command('allow'))
    .description('allows an author to review an entity again after deleting a hidden review of it')
    .argument('<user id>', 'the author', as(Uuid))
    .argument('<entity id>', 'the entity', as(Uuid))
    .answer(async (user_id: string, entity_id: string, grounds: Grounds) => {
      await allowReview(user_id, entity_id, asOperator(grounds));
      return { user_id, entity_id, is_allowed: true };
    });

  const report = admin.command('report').description('spam reports');
  report
    .command('list')
    .description('lists the undecided reports, oldest case first')
    .answer(async () => ({ reports: undecided() }));
  withReason(report.command('dismiss'))
    .description('dismisses the reports of a review; the same users cannot report it again')
    .argument('<review id>', 'the review', as(Uuid))
    .answer(async (id: string, grounds: Grounds) => {
      const decision = await decideReview(id, 'dismiss', asOperator(grounds));
      return { id, dismissed: decision?.reports };
    });

  admin
    .command('decision')
    .description('the log of moderation decisions')
    .command('list')
    .description('lists the decisions of moderators and operators, newest first')
    .answer(async () => ({ decisions: eachOf(allDecisions()) }));
}

/** Grounds of the operator, who is no moderator. */
export const asOperator = (grounds: Grounds) => ({ ...grounds, moderator_id: null });

export function withReason(command: AdminCommand): AdminCommand {
  const { reason, note } = Grounds.entries;
  return command
    .option('--reason <reason>', `why: ${reasons.join(', ')}`, as(reason), 'other')
    .option('--note <text>', 'an explanation, which the author of the review reads', as(note), '');
}

async function* undecided() {
  // The round is internal.
  for await (const { round: _, ...report } of eachOf(listReports())) yield report;
}
