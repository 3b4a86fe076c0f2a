import { entityGroups, nameOfEntityType, nameOfGroup } from '../../entity/entity-type.ts';
import { optionGroup, select } from '../form/choices.ts';
import type { Html } from '../frame/layout.ts';

/** A choice of one type of this service, or of all, in the groups that are on. */
export function typeSelect({
  name,
  value,
  hint,
}: {
  name: string;
  value: string | undefined;
  hint?: string;
}): Html {
  return select({
    name,
    label: 'Type',
    ...(hint !== undefined && { hint }),
    none: 'All types',
    options: [...entityGroups].map(([group, types]) => (chosen) => {
      const choices = types.map((each) => [each, nameOfEntityType(each)] as const);
      return optionGroup(nameOfGroup(group), choices, chosen);
    }),
    value: value ?? '',
  });
}
