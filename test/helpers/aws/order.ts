import { references, type Template } from './checks.ts';

/** Seconds that CloudFormation takes for a resource at least. All others are quick. */
const durations: Readonly<Record<string, number>> = {
  'AWS::CloudFront::Distribution': 300,
  'AWS::Route53::RecordSet': 40,
  'AWS::ApiGateway::DomainName': 30,
  'AWS::ApiGateway::Stage': 10,
};

/** Returns the ids of all that a resource waits for. */
export function waitsFor(template: Template, id: string, found = new Set<string>()): Set<string> {
  const { Properties, DependsOn = [] } = template.Resources[id] as Template['Resources'][string];
  for (const next of [...references(Properties), ...[DependsOn].flat()]) {
    if (!template.Resources[next] || found.has(next)) continue;
    found.add(next);
    waitsFor(template, next, found);
  }
  return found;
}

/**
 * Returns the second in which each resource is done, by its id, if CloudFormation begins all that
 * wait for nothing at once.
 */
export function timesOf(template: Template): Map<string, number> {
  const times = new Map<string, number>();
  const timeOf = (id: string): number => {
    const known = times.get(id);
    if (known !== undefined) return known;
    const {
      Type,
      Properties,
      DependsOn = [],
    } = template.Resources[id] as Template['Resources'][string];
    const before = [...references(Properties), ...[DependsOn].flat()]
      .filter((next) => template.Resources[next])
      .map(timeOf);
    const time = Math.max(0, ...before) + (durations[Type] ?? 2);
    times.set(id, time);
    return time;
  };
  for (const id of Object.keys(template.Resources)) timeOf(id);
  return times;
}
