import { isDeepStrictEqual } from 'node:util';
import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import { pick } from '../../base/pick.ts';
import type { Item } from '../../base/table/item.ts';
import { idIn } from '../../base/table/item.ts';
import type { EntityType } from '../../core/entity/entity-type.ts';
import { type EntityRecord, entityOf, recordIn, recordSort } from '../../core/entity/record.ts';
import { entityKey } from '../../core/keys.ts';
import type { Reviewed } from './listing.ts';
import { reviewedIn } from './thing.ts';

/** A thing in stream records, with the items that were there before. */
export interface Change {
  id: string;
  /** Types of the changed records, and of the reviews before. */
  types: Set<EntityType>;
  counts: Reviewed[];
  records: EntityRecord[];
  /** True if a record has changed, also one that had no name before. */
  isNamed: boolean;
}

/** Returns the changes of things in stream records, by thing. */
export function changesIn(records: readonly DynamoDBRecord[]): Change[] {
  const changes = new Map<string, Change>();
  for (const { dynamodb: { Keys, OldImage, NewImage } = {} } of records) {
    const pk = `${Keys?.pk?.S}`;
    if (Keys?.sk?.S === entityKey('').sk) {
      const id = idIn({ pk });
      const before = reviewedIn(id, plain(OldImage));
      const change = changeOf(changes, id);
      change.counts.push(before);
      for (const type of before.counts.types.keys()) change.types.add(type);
    }
    const entity = Keys?.sk?.S === recordSort ? entityOf(pk) : undefined;
    if (!entity) continue;
    const before = recordIn(entity, plain(OldImage));
    const after = recordIn(entity, plain(NewImage));
    // Most writes of a record only say when it is due.
    if (isDeepStrictEqual(before && shownOf(before), after && shownOf(after))) continue;
    const change = changeOf(changes, entity.entity_id);
    change.isNamed = true;
    change.types.add(entity.entity_type);
    if (before) change.records.push(before);
  }
  return [...changes.values()];
}

/** Returns the change of a thing, which it adds if there is none. */
export function changeOf(changes: Map<string, Change>, id: string): Change {
  const existing = changes.get(id);
  if (existing) return existing;
  const change: Change = { id, types: new Set(), counts: [], records: [], isNamed: false };
  changes.set(id, change);
  return change;
}

/** The fields that entries depend on. */
function shownOf(record: EntityRecord) {
  return pick(record, [
    'name',
    'about',
    'url',
    'image',
    'origin',
    'user_id',
    'state',
    'leads_to',
    'expires_at',
  ]);
}

type Image = NonNullable<DynamoDBRecord['dynamodb']>['NewImage'];

/** Returns an image of the stream as an item, without what no record or count has. */
function plain(image: Image): Item | undefined {
  return image && (contentOf({ M: image }) as Item);
}

function contentOf({ S, N, L, M }: AttributeValue): unknown {
  if (L) return L.map(contentOf);
  if (!M) return N === undefined ? S : Number(N);
  return Object.fromEntries(Object.entries(M).map(([name, value]) => [name, contentOf(value)]));
}
