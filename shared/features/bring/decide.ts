// What a person decides about a file.
import * as v from 'valibot';
import { ApiError, notFound } from '../../base/errors.ts';
import { retryStale } from '../../base/table/transact.ts';
import { Language, LicenseChoice } from '../../core/review/review.ts';
import { checkWriter, writeAs } from '../../core/user/writer.ts';
import { begin, type Choices, findFile } from './brought-file.ts';

/** Minutes without a step after which the work has stopped: a restore loses its next step. */
export const mostQuiet = 10;

/** The form of a file. */
export const Decision = v.variant('decision', [
  v.object({
    decision: v.literal('bring'),
    halves: v.picklist(['up', 'down'], 'must be up or down'),
    as: v.picklist(['public', 'drafts']),
    language: Language,
    license_choice: LicenseChoice,
  }),
  v.object({ decision: v.picklist(['undo', 'continue']) }),
]);
export type Decision = v.InferOutput<typeof Decision>;

function choicesOf(sent: Decision): Choices | undefined {
  if (!('halves' in sent)) return undefined;
  const { halves, language, license_choice } = sent;
  return { halves, is_draft: sent.as === 'drafts', language, license_choice };
}

/**
 * Begins what the person has decided. A form that is sent twice begins it once. Throws ApiError 404
 * without the file, 409 at another stage of it, and 403 for a blocked account.
 */
export async function beginTask(userId: string, slot: number, sent: Decision): Promise<void> {
  const { decision } = sent;
  await writeAs(userId, (writer) =>
    retryStale(async () => {
      const file = await findFile(userId, slot);
      if (!file) throw notFound('File');
      const { stage, task } = file;
      const also = [checkWriter(userId, writer)];
      if (decision === 'continue') {
        if (task) await begin(file, task, also);
        return;
      }
      if (stage === decision) return;
      if (task || stage !== (decision === 'bring' ? 'find' : 'bring')) {
        throw new ApiError(409, 'conflict', 'The file is not at this stage any more');
      }
      await begin(file, decision, also, choicesOf(sent));
    }),
  );
}
