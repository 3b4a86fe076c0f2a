import { accessOf } from '../../infra/aws/table-access.ts';
import { currentOperation } from '../../shared/base/operation.ts';
import { routes } from '../../shared/base/routes.ts';
import type { Key } from '../../shared/base/table/item.ts';
import type { Storage } from '../../shared/base/table/storage.ts';
import type { Write } from '../../shared/base/table/write.ts';
import { ownTypesIn } from '../../shared/core/entity/own-types.ts';
import { isLike } from './aws/roles.ts';

/** A use of the table that the route which runs has not declared, so that AWS would refuse it. */
export class Undeclared extends Error {}

type Deed = keyof ReturnType<typeof accessOf>;

/** Returns a storage that refuses to a route what it has not declared. Others may do everything. */
export function declared(storage: Storage): Storage {
  return {
    async get(keys, options) {
      for (const { pk } of keys) expectDeclared('read', pk);
      return storage.get(keys, options);
    },
    async query(query) {
      expectDeclared(query.index === undefined ? 'queried' : 'listed', query.partition);
      return storage.query(query);
    },
    async scan(after, limit) {
      // The role of no function has this right.
      if (routeThatRuns()) throw new Undeclared('a route scans the table');
      return storage.scan(after, limit);
    },
    async transact(writes) {
      for (const write of writes) expectDeclared(...deedOf(write));
      return storage.transact(writes);
    },
    async update(update) {
      expectDeclared('written', update.Key.pk);
      return storage.update(update);
    },
    async write(writes) {
      for (const write of writes) {
        const { pk } = ('put' in write ? write.put : write.delete) as Key;
        expectDeclared('written', pk);
      }
      return storage.write(writes);
    },
  };
}

function deedOf(write: Write): [Deed, string] {
  if ('Put' in write) return ['written', (write.Put.Item as Key).pk];
  if ('Update' in write) return ['written', write.Update.Key.pk];
  if ('Delete' in write) return ['written', write.Delete.Key.pk];
  return ['read', write.ConditionCheck.Key.pk];
}

function routeThatRuns() {
  const name = currentOperation()?.name;
  return routes.find(({ operation }) => operation === name);
}

function expectDeclared(deed: Deed, partition: string): void {
  const route = routeThatRuns();
  if (!route) return;
  const ownTypes = ownTypesIn(process.env.OWN_TYPES ?? '').keys();
  const patterns = accessOf(route, [...ownTypes])[deed];
  if (patterns.some((pattern) => isLike(partition, pattern))) return;
  throw new Undeclared(`${route.operation} has not declared: ${deed} ${partition}`);
}
