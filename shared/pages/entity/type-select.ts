import {
  type EntityType,
  entityGroups,
  groupOf,
  nameOfEntityType,
  nameOfGroup,
} from '../../core/entity/entity-type.ts';
import { optionGroup, select } from '../form/choices.ts';
import type { Html } from '../frame/layout.ts';
import { shownGroups } from './shown-groups.ts';

/** A choice of one type of this place, or of all. A chosen type of another group stays. */
export function typeSelect({
  name,
  value,
  hint,
}: {
  name: string;
  value: EntityType | undefined;
  hint?: string;
}): Html {
  const groups = new Map(shownGroups());
  const group = value && groupOf(value);
  if (group) groups.set(group, entityGroups.get(group) ?? []);
  return select({
    name,
    label: 'Type',
    ...(hint !== undefined && { hint }),
    none: 'All types',
    options: [...groups].map(([group, types]) => (chosen) => {
      const choices = types.map((each) => [each, nameOfEntityType(each)] as const);
      return optionGroup(nameOfGroup(group), choices, chosen);
    }),
    value: value ?? '',
  });
}
