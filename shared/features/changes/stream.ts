import type { DynamoDBRecord } from 'aws-lambda';
import { idIn } from '../../base/table/item.ts';
import { collect, queryItems } from '../../base/table/query.ts';
import { entityOf, recordSort } from '../../core/entity/record.ts';
import { caseKey, deskPartitions, grantKey, reviewKey } from '../../core/keys.ts';
import { nobody } from '../../core/oauth/grant.ts';
import { findUser } from '../../core/user/user-repository.ts';
import type { LoggedChange, ReviewKind } from './logged-change.ts';

// Finds in stream records what the change log has to hold.

type Image = NonNullable<DynamoDBRecord['dynamodb']>['NewImage'];

/** Returns the writes, in stream records, of reviews that were public before or after. */
export function reviewsIn(records: readonly DynamoDBRecord[]): LoggedChange[] {
  return records.flatMap(({ dynamodb = {} }) => {
    const { Keys, OldImage, NewImage } = dynamodb;
    if (Keys?.sk?.S !== reviewKey('').sk) return [];
    const kind = kindOf(OldImage, NewImage);
    if (!kind) return [];
    const version = NewImage ? Number(NewImage.version?.N) : Number(OldImage?.version?.N) + 1;
    const { entity_id, user_id } = NewImage ?? OldImage ?? {};
    const about = { entity_id: `${entity_id?.S}`, user_id: `${user_id?.S}` };
    const index = NewImage?.kind?.S;
    const size = index?.includes('/') ? { index } : {};
    return [{ id: idIn({ pk: `${Keys.pk?.S}` }), version, kind, ...about, ...size }];
  });
}

function kindOf(before: Image, after: Image): ReviewKind | undefined {
  // An upgrade writes index attributes again, and nothing that a reader sees.
  if (before?.version?.N !== undefined && before.version.N === after?.version?.N) return undefined;
  const wasPublic = before?.all?.S !== undefined;
  const isPublic = after?.all?.S !== undefined;
  if (!isPublic) return wasPublic ? 'removed' : undefined;
  if (!wasPublic) return 'published';
  return before.edits?.N === after.edits?.N ? 'voted' : 'edited';
}

/** Returns the changes, in stream records, of what people read of entities. */
export function entitiesIn(records: readonly DynamoDBRecord[]): LoggedChange[] {
  return records.flatMap(({ dynamodb: { Keys, OldImage, NewImage } = {} }) => {
    const entity = Keys?.sk?.S === recordSort ? entityOf(`${Keys.pk?.S}`) : undefined;
    const version = NewImage?.version?.N;
    // A lease changes nothing that people read.
    const isSame = OldImage?.version?.N === version && OldImage?.expires_at === undefined;
    const isShown = isRead(NewImage) || isRead(OldImage);
    if (!entity || version === undefined || !isShown || isSame) return [];
    const { entity_id: id, entity_type } = entity;
    return [{ id, version: Number(version), kind: 'named', entity_type }];
  });
}

/** Returns true for a name that everybody may read. What only a search has found expires. */
function isRead(image: Image): boolean {
  const isPublic = image?.state === undefined && image?.expires_at === undefined;
  return image?.name?.S !== undefined && isPublic;
}

/** Returns what begins to wait for moderators in these stream records: cases and names. */
export function casesIn(records: readonly DynamoDBRecord[]): LoggedChange[] {
  return records.flatMap(({ dynamodb: { Keys, OldImage, NewImage } = {} }) => {
    const pk = `${Keys?.pk?.S}`;
    if (Keys?.sk?.S === caseKey('').sk) {
      if (NewImage?.state?.S !== 'open' || OldImage?.state?.S === 'open') return [];
      return [{ id: idIn({ pk }), version: Number(NewImage.version?.N), kind: 'opened' }];
    }
    const entity = entityOf(pk);
    if (!entity || !isWaiting(NewImage) || isWaiting(OldImage)) return [];
    const { entity_id, entity_type } = entity;
    const { proposed_at, user_id, version } = NewImage;
    const opened = { id: entity_id, kind: 'opened', entity_type } as const;
    if (proposed_at === undefined) return [{ ...opened, version: Number(version?.N) }];
    return [{ ...opened, version: Date.parse(`${proposed_at.S}`), user_id: `${user_id?.S}` }];
  });
}

/** Returns true for a proposal, and for a name that waits. */
function isWaiting(image: Image): image is NonNullable<Image> {
  const { proposal, name } = deskPartitions;
  return [proposal, name].some((partition) => partition === image?.all?.S);
}

/** Finds the people whose last grant to an application was deleted in these stream records. */
export async function peopleIn(records: readonly DynamoDBRecord[]): Promise<LoggedChange[]> {
  const ended = records.flatMap(({ eventName, dynamodb: { Keys } = {} }) => {
    const [kind, client_id = ''] = `${Keys?.sk?.S}`.split('#');
    if (eventName !== 'REMOVE' || kind !== 'GRANT' || client_id === nobody) return [];
    return [{ id: idIn({ pk: `${Keys?.pk?.S}` }), client_id }];
  });
  const people = new Map(ended.map((each) => [`${each.id} ${each.client_id}`, each]));
  const changes = await Promise.all([...people.values()].map(changeOf));
  return changes.flatMap((change) => change ?? []);
}

/** Returns nothing if another grant of the person to the application is left. */
async function changeOf(person: {
  id: string;
  client_id: string;
}): Promise<LoggedChange | undefined> {
  const grants = queryItems(grantKey(person.id, person.client_id, ''), { pageSize: 1 });
  const [left] = await collect(grants, 1);
  if (left) return undefined;
  const isAlive = (await findUser(person.id)) !== undefined;
  return { ...person, version: 0, kind: isAlive ? 'revoked' : 'deleted' };
}
