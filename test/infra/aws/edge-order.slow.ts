import { only, resources, type Template, theOne } from '../../helpers/aws/checks.ts';
import { definitionIn, methodsIn } from '../../helpers/aws/definition.ts';
import { deployed } from '../../helpers/aws/deployed.ts';
import { timesOf, waitsFor } from '../../helpers/aws/order.ts';

// Who is served while `cdn` is turned on or off, by the order of the templates' resources.

const domain = (region: string) => ({
  domain: 'reviews.example.org',
  certificateArn: `arn:aws:acm:${region}:123456789012:certificate/00000000-0000-4000-8000-000000000000`,
  hostedZoneId: 'Z0123456789',
  hostedZoneName: 'example.org',
});
const near = domain('eu-central-1');
const far = domain('us-east-1');

/** The steps from one way to the other. */
const steps = {
  'API Gateway': deployed(near).service,
  'API Gateway, open': deployed({ ...near, openAddress: 'true' }).service,
  'CloudFront, open': deployed({ ...far, cdn: 'true', openAddress: 'true' }).service,
  CloudFront: deployed({ ...far, cdn: 'true' }).service,
};

const idsOf = (template: Template, type: string) => resources(template, type).map(([id]) => id);
const recordsOf = (template: Template) => idsOf(template, 'AWS::Route53::RecordSet');
const [stageId] = theOne(steps.CloudFront, 'AWS::ApiGateway::Stage');

/** Returns who the API serves: at its own address, and without the key of CloudFront. */
function servedBy(template: Template) {
  const guards = methodsIn(definitionIn(template)).flatMap((method) => method.guards);
  const { DisableExecuteApiEndpoint } = only(template, 'AWS::ApiGateway::RestApi');
  return { isOpen: DisableExecuteApiEndpoint !== true, demandsKey: guards.includes('apiKey') };
}

test('each step serves people who come by its own way, and by that of its neighbours', () => {
  const open = { isOpen: true, demandsKey: false };
  expect(Object.values(steps).map(servedBy)).toEqual([
    { isOpen: false, demandsKey: false },
    open,
    open,
    { isOpen: true, demandsKey: true },
  ]);
});

describe.each(['CloudFront, open', 'CloudFront'] as const)('on the way to %s', (name) => {
  const template = steps[name];
  const times = timesOf(template);
  const [distribution] = theOne(template, 'AWS::CloudFront::Distribution');
  const [stage] = theOne(template, 'AWS::ApiGateway::Stage');

  test('the records lead to CloudFront once it serves, and then the API goes live', () => {
    const serves = times.get(distribution) ?? 0;
    const led = recordsOf(template).map((id) => times.get(id) ?? 0);
    const live = times.get(stage) ?? 0;
    expect(led).toHaveLength(2);
    expect(Math.min(...led)).toBeGreaterThan(serves);
    expect(live).toBeGreaterThan(Math.max(...led));
    // Both within the five to eleven minutes that the guide promises.
    expect(live).toBeLessThan(11 * 60);
  });
  test('a distribution that fails leaves the records and the API as they were', () => {
    const [deployment] = theOne(template, 'AWS::ApiGateway::Deployment');
    for (const id of [stage, deployment, ...recordsOf(template)]) {
      expect(waitsFor(template, id)).toContain(distribution);
    }
  });
  test('a record that fails is undone before the API has asked anybody for a key', () => {
    for (const record of recordsOf(template)) {
      expect(waitsFor(template, stage)).toContain(record);
      expect(waitsFor(template, record)).not.toContain(stage);
    }
  });
});

test('the key is known to API Gateway one step before it is demanded', () => {
  const before = steps['CloudFront, open'];
  for (const type of ['AWS::ApiGateway::ApiKey', 'AWS::ApiGateway::UsagePlanKey']) {
    const made = theOne(before, type);
    expect(theOne(steps.CloudFront, type)).toEqual(made);
  }
  // The last step changes the API and nothing that leads to it.
  const others = (template: Template) =>
    ['AWS::CloudFront::Distribution', 'AWS::Route53::RecordSet'].map((type) =>
      resources(template, type).map(([id, { Properties }]) => [id, Properties]),
    );
  expect(others(steps.CloudFront)).toEqual(others(before));
});

test('on the way back the API asks for no key, and knows the domain, before people come', () => {
  for (const name of ['API Gateway, open', 'API Gateway'] as const) {
    const template = steps[name];
    const [mapping] = idsOf(template, 'AWS::ApiGateway::BasePathMapping');
    for (const record of recordsOf(template)) {
      const before = waitsFor(template, record);
      expect(before).toContain(stageId);
      expect(before).toContain(mapping);
      const times = timesOf(template);
      expect(times.get(record)).toBeGreaterThan(times.get(stageId) ?? 0);
    }
  }
});
