import { getItems } from '../../base/table/batch.ts';
import { keyString } from '../../base/table/item.ts';
import { type EntityType, isOwnType } from '../../core/entity/entity-type.ts';
import { type Entity, recordKey } from '../../core/entity/record.ts';
import { claimingAddress } from './plan.ts';
import type { TransferRecord } from './record.ts';

/** Things without a name and accounts of nobody that the records of an import leave. */
export class Gaps {
  /** Reviewed things of own types, whose names no database knows. */
  readonly #things = new Map<string, Entity>();
  readonly #named = new Set<string>();
  #unclaimable = 0;

  /** Takes a record that is written, or that the table has already. */
  note(record: TransferRecord, isNew: boolean): void {
    if (record.kind === 'review' && isOwnType(record.entity_type)) {
      const { entity_id, entity_type } = record;
      this.#things.set(keyString(recordKey(record)), { entity_id, entity_type });
    } else if (record.kind === 'entity') {
      this.#named.add(keyString(record.item));
    } else if (record.kind === 'user' && isNew) {
      const isClaimable = record.contact?.identity ?? claimingAddress(record);
      if (!isClaimable) this.#unclaimable++;
    }
  }

  /** Reads which of the things have no name, half a unit for each that no record has named. */
  async find() {
    const things_without_name: Partial<Record<EntityType, number>> = {};
    const unnamed = [...this.#things].filter(([name]) => !this.#named.has(name));
    const items = await getItems(
      unnamed.map(([, entity]) => recordKey(entity)),
      { attributes: ['name'] },
    );
    for (const [i, [, { entity_type }]] of unnamed.entries()) {
      if (typeof items[i]?.name === 'string') continue;
      things_without_name[entity_type] = (things_without_name[entity_type] ?? 0) + 1;
    }
    return { things_without_name, accounts_nobody_can_claim: this.#unclaimable };
  }
}
