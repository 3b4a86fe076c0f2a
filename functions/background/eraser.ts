import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { idIn } from '../../shared/base/table/item.ts';
import { notingColdStart } from '../../shared/core/http/cold-start.ts';
import { eraseGrants } from '../../shared/core/oauth/application-repository.ts';
import { eraseEntity, eraseRemains } from '../../shared/core/review/erase.ts';
import { finishDeletion } from '../../shared/core/review/review-repository.ts';
import { eraseAccount } from '../../shared/features/account/public.ts';
import { advanceFile } from '../../shared/features/bring/public.ts';
import { applyInOrder, passHeartbeat } from '../../shared/features/health/public.ts';
import { undoAll } from '../../shared/features/moderation/public.ts';

/**
 * Erases data left by deleted accounts, reviews and applications. Hides all reviews of accounts for
 * which a moderator has decided so. Works on the files that people bring. Follows the stream.
 */
export const handler = notingColdStart(
  ({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> =>
    applyInOrder(Records, erase, 'Erasing failed'),
);

/** Is false for later changes of the item, such as its counts. */
function isNew(name: string, { NewImage, OldImage }: NonNullable<DynamoDBRecord['dynamodb']>) {
  return NewImage?.[name]?.S !== OldImage?.[name]?.S;
}

async function erase(record: DynamoDBRecord): Promise<void> {
  const { eventName, dynamodb } = record;
  const isRemoved = eventName === 'REMOVE';
  const pk = dynamodb?.Keys?.pk?.S ?? '';
  const id = idIn({ pk });
  switch (dynamodb?.Keys?.sk?.S) {
    case 'REVIEW':
      if (isRemoved) {
        await eraseRemains(id, Number(dynamodb.OldImage?.version?.N));
        await eraseEntity(dynamodb.OldImage?.entity_id?.S ?? '');
      } else if (dynamodb.NewImage?.deleted_at) {
        await finishDeletion(id);
      }
      return;
    case 'APP':
      await eraseGrants(id);
      return;
    case 'USER':
      if (isRemoved || dynamodb.NewImage?.deleted_at) await eraseAccount(id);
      else if (isNew('hiding', dynamodb)) await undoAll(id);
      return;
    default:
      if (dynamodb?.NewImage?.task) {
        const { slot, version } = dynamodb.NewImage;
        await advanceFile(id, Number(slot?.N), Number(version?.N));
      }
      await passHeartbeat('eraser', [record]);
  }
}
