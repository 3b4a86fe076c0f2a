import {
  circles,
  deafTopics,
  excessRights,
  missingRights,
  propertiesOf,
  resources,
  type Template,
  toldBy,
  unretained,
  wildcardRights,
  withoutTls,
} from '../../helpers/aws/checks.ts';
import { withoutCors, wrongCalls, wrongMethods } from '../../helpers/aws/definition.ts';
import { deployed } from '../../helpers/aws/deployed.ts';
import { optionSets } from '../../helpers/aws/option-sets.ts';
import { waitsFor } from '../../helpers/aws/order.ts';

const sets = optionSets().map((options) => [JSON.stringify(options), options] as const);

test('the sets name every option, and few are enough', () => {
  const named = new Set(sets.flatMap(([, options]) => Object.keys(options)));
  expect(named.size).toBe(25);
  expect(sets.length).toBeLessThan(20);
});

/** Lists nested stacks, and the right to call functions, that come after the API goes live. */
function lateParts(service: Template): string[] {
  const [stage = ''] =
    resources(service, 'AWS::ApiGateway::Stage').find(
      ([, { Properties }]) => Properties.StageName === 'ws',
    ) ?? [];
  const before = waitsFor(service, stage);
  const ids = Object.keys(service.Resources);
  const needed = ids.filter((id) => /^Api(Functions|Pages|Forms)Nested|^ApiCaller/.test(id));
  expect(needed).toHaveLength(4);
  return needed.filter((id) => !before.has(id));
}

describe.each(sets)('the deployment with %s', (_, options) => {
  const { findings, parts, data, service, health, firewall } = deployed(options);
  const isProduction = options.environment === undefined;
  const made = [data, ...Object.values(parts), health, firewall];
  const all = made.filter((each) => each !== undefined);

  test('has no finding of cdk-nag', () => {
    expect(findings).toBe('');
  });
  test('gives each function the rights that it declares and needs, and no other', () => {
    expect(excessRights(service)).toEqual([]);
    expect(missingRights(service)).toEqual([]);
    const wild = wildcardRights(service);
    const traced = wild.filter((right) => /: xray:[\w,:]+$/.test(right));
    expect(wild).toEqual(traced);
    expect(traced.length > 0).toBe(options.tracing === 'true');
  });
  test('has the routes of the route table, and calls their functions by one role', () => {
    expect([...wrongMethods(service), ...withoutCors(service), ...wrongCalls(service)]).toEqual([]);
    const callers = propertiesOf(service, 'AWS::Lambda::Permission').map((each) => each.Principal);
    expect(new Set(callers)).toEqual(new Set(['events.amazonaws.com']));
  });
  test('depends on nothing in a circle, and refuses nobody while the API goes live', () => {
    expect(all.flatMap(circles)).toEqual([]);
    expect(lateParts(parts.service)).toEqual([]);
  });
  test('tells of each alarm and its end, over TLS', () => {
    expect(all.flatMap((each) => [...withoutTls(each), ...deafTopics(each)])).toEqual([]);
    const silent = all
      .flatMap((each) => propertiesOf(each, 'AWS::CloudWatch::Alarm'))
      .filter((alarm) => toldBy(alarm).tells === undefined);
    expect(silent).toEqual([]);
  });
  test('keeps the data in production, and only there', () => {
    expect(unretained(data).length === 0).toBe(isProduction);
  });
});
