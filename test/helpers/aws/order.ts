import { references, type Template } from './checks.ts';

/** The ids that each resource names, by its id. */
const named = new WeakMap<Template, Map<string, string[]>>();

function namedIn(template: Template) {
  const known = named.get(template);
  if (known) return known;
  const ids = Object.entries(template.Resources).map(([id, { Properties, DependsOn = [] }]) => {
    const all = references(Properties).concat(DependsOn);
    return [id, all.filter((each) => template.Resources[each])] as const;
  });
  named.set(template, new Map(ids));
  return new Map(ids);
}

/** Returns the ids of all that CloudFormation makes before a resource. */
export function waitsFor(template: Template, id: string, found = new Set<string>()): Set<string> {
  for (const next of namedIn(template).get(id) ?? []) {
    if (found.has(next)) continue;
    found.add(next);
    waitsFor(template, next, found);
  }
  return found;
}
