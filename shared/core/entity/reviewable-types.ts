import { type EntityGroup, type EntityType, entityGroups, entityTypes } from './entity-type.ts';
import { readGroups } from './group-names.ts';

/**
 * Types that a new review may have: those of the groups that the operator has chosen, or all. What
 * was reviewed before stays, and lists take all types as filters.
 */
export const reviewableTypes: readonly EntityType[] = /* @__PURE__ */ chosenTypes();

function chosenTypes(): readonly EntityType[] {
  const groups = readGroups(process.env.SHOWN_GROUPS ?? '');
  const types = groups.flatMap((group) => entityGroups.get(group as EntityGroup) ?? []);
  return types.length > 0 ? types : entityTypes;
}
