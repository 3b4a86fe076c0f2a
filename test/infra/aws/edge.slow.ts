import { forgetSession } from '../../../shared/pages/session/session.ts';
import {
  only,
  propertiesOf,
  resources,
  type Template,
  textOf,
  theOne,
} from '../../helpers/aws/checks.ts';
import { definitionIn, methodsIn } from '../../helpers/aws/definition.ts';
import { deployed, settingsFile, type Templates } from '../../helpers/aws/deployed.ts';
import { waitsFor } from '../../helpers/aws/order.ts';
import { ownDomain } from '../../helpers/aws/synthesized.ts';

const here = 'arn:aws:acm:us-east-1:123456789012:certificate/00000000-0000-4000-8000-000000000000';
const far = { ...ownDomain, certificateArn: here };
const plain = deployed({});
const small = deployed({ cdn: 'true' });
const large = deployed({
  name: 'reviews',
  ...far,
  cdn: 'true',
  firewall: 'true',
  settings: settingsFile('SECURITY_CONTACT=security@example.org'),
});

function distributionOf({ service }: Templates) {
  return only(service, 'AWS::CloudFront::Distribution').DistributionConfig;
}

describe.each([
  ['without a domain', small],
  ['with a domain and a firewall', large],
])('CloudFront %s', (_, { service }) => {
  const { DefaultCacheBehavior: behavior, ...distribution } = only(
    service,
    'AWS::CloudFront::Distribution',
  ).DistributionConfig;

  test('keeps answers by path, query, session, token and encoding, as long as they say', () => {
    const { CachePolicyConfig } = only(service, 'AWS::CloudFront::CachePolicy');
    expect(behavior.CachePolicyId).toEqual({
      Ref: theOne(service, 'AWS::CloudFront::CachePolicy')[0],
    });
    expect(CachePolicyConfig).toMatchObject({
      MinTTL: 0,
      DefaultTTL: 0,
      MaxTTL: 86_400,
      ParametersInCacheKeyAndForwardedToOrigin: {
        QueryStringsConfig: { QueryStringBehavior: 'all' },
        CookiesConfig: { CookieBehavior: 'whitelist', Cookies: ['__Host-session'] },
        HeadersConfig: { HeaderBehavior: 'whitelist', Headers: ['Authorization'] },
        EnableAcceptEncodingBrotli: true,
        EnableAcceptEncodingGzip: true,
      },
    });
    expect(behavior.Compress).toBe(true);
  });
  test('names the session’s cookie as the pages do', () => {
    process.env.AUTH_URL = 'https://reviews.example.org/ws';
    const [name] = `${forgetSession()[0]}`.split('=');
    const { ParametersInCacheKeyAndForwardedToOrigin: key } = only(
      service,
      'AWS::CloudFront::CachePolicy',
    ).CachePolicyConfig;
    expect(key.CookiesConfig.Cookies).toEqual([name]);
  });
  test('redirects people to HTTPS, and refuses programs that ask by plain HTTP', () => {
    expect(behavior.ViewerProtocolPolicy).toBe('redirect-to-https');
    const programs = distribution.CacheBehaviors.slice(0, 2);
    expect(programs.map(({ PathPattern }: Record<string, string>) => PathPattern)).toEqual([
      '/ws/1/*',
      '/ws/oauth/*',
    ]);
    for (const { PathPattern: _, ...each } of programs) {
      expect(each).toEqual({ ...behavior, ViewerProtocolPolicy: 'https-only' });
    }
  });
  test('passes everything on but the host, by HTTPS alone, with all methods', () => {
    // AWS’s own policy AllViewerExceptHostHeader, by its id in the documentation.
    expect(behavior.OriginRequestPolicyId).toBe('b689b0a8-53d0-40ab-baf2-68738e2966ac');
    expect(behavior.AllowedMethods.toSorted()).toEqual([
      'DELETE',
      'GET',
      'HEAD',
      'OPTIONS',
      'PATCH',
      'POST',
      'PUT',
    ]);
    const [origin] = distribution.Origins;
    expect(distribution.Origins).toHaveLength(1);
    expect(origin.CustomOriginConfig).toMatchObject({
      OriginProtocolPolicy: 'https-only',
      OriginSSLProtocols: ['TLSv1.2'],
      OriginReadTimeout: 30,
    });
    expect(textOf(origin.DomainName)).toMatch(
      /^\$\{ApiRestApi\w+\}\.execute-api\.\$\{AWS::Region\}\.\$\{AWS::URLSuffix\}$/,
    );
    expect(origin.OriginPath).toBeUndefined();
  });
  test('keeps no errors', () => {
    // Of those that CloudFront keeps for 10 seconds by default, each has an entry.
    const kept = distribution.CustomErrorResponses.map(
      ({ ErrorCode, ErrorCachingMinTTL }: Record<string, number>) => [
        ErrorCode,
        ErrorCachingMinTTL,
      ],
    );
    const codes = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];
    expect(kept).toEqual(codes.map((code) => [code, 0]));
  });
  test('alone has the key to the API, which every method demands', () => {
    const [secret] = resources(service, 'AWS::SecretsManager::Secret').find(([id]) =>
      /^ApiEdgeKey/.test(id),
    ) ?? [''];
    const key = `{{resolve:secretsmanager:\${${secret}}:SecretString:::}}`;
    const [{ OriginCustomHeaders }] = distribution.Origins;
    expect(OriginCustomHeaders).toHaveLength(1);
    expect(OriginCustomHeaders[0].HeaderName).toBe('x-api-key');
    expect(textOf(OriginCustomHeaders[0].HeaderValue)).toBe(key);
    expect(textOf(only(service, 'AWS::ApiGateway::ApiKey').Value)).toBe(key);
    const [plan, { Properties }] = theOne(service, 'AWS::ApiGateway::UsagePlan');
    expect(Properties.ApiStages).toHaveLength(1);
    expect(Properties.Throttle ?? Properties.Quota).toBeUndefined();
    expect(only(service, 'AWS::ApiGateway::UsagePlanKey')).toMatchObject({
      KeyId: { Ref: theOne(service, 'AWS::ApiGateway::ApiKey')[0] },
      KeyType: 'API_KEY',
      UsagePlanId: { Ref: plan },
    });
    const definition = definitionIn(service);
    const open = methodsIn(definition).filter(({ guards }) => !guards.includes('apiKey'));
    // A preflight carries no key, and tells nothing.
    expect(open.filter(({ name }) => !name.startsWith('OPTIONS '))).toEqual([]);
    expect(definition.components.securitySchemes.apiKey).toBeDefined();
    const apis = propertiesOf(service, 'AWS::ApiGateway::RestApi');
    expect(apis.map((api) => api.DisableExecuteApiEndpoint)).toEqual([false]);
  });
});

describe('the address of the service', () => {
  const addressOf = ({ service }: Templates) => {
    const { BaseUrl, AuthUrl } = service.Outputs ?? {};
    const { LogoutURLs, CallbackURLs } = only(service, 'AWS::Cognito::UserPoolClient');
    return {
      base: textOf(BaseUrl?.Value),
      auth: textOf(AuthUrl?.Value),
      signIn: [...CallbackURLs, ...LogoutURLs].map(textOf),
    };
  };
  test('is that of the distribution', () => {
    const [id] = theOne(small.service, 'AWS::CloudFront::Distribution');
    const url = `https://\${${id}.DomainName}/ws`;
    expect(addressOf(small)).toMatchObject({
      base: `${url}/1`,
      auth: url,
      signIn: [`${url}/account/callback`, `${url}/account/sign-out`],
    });
  });
  test('is the domain if there is one, whose addresses are those of the distribution', () => {
    const url = 'https://reviews.example.org/ws';
    expect(addressOf(large)).toMatchObject({ base: `${url}/1`, auth: url });
    const { Aliases, ViewerCertificate } = distributionOf(large);
    expect(Aliases).toEqual(['reviews.example.org']);
    expect(ViewerCertificate).toEqual({
      AcmCertificateArn: here,
      MinimumProtocolVersion: 'TLSv1.2_2021',
      SslSupportMethod: 'sni-only',
    });
    const [id] = theOne(large.service, 'AWS::CloudFront::Distribution');
    const DNSName = { 'Fn::GetAtt': [id, 'DomainName'] };
    expect(propertiesOf(large.service, 'AWS::Route53::RecordSet')).toMatchObject([
      { Type: 'A', Name: 'reviews.example.org.', AliasTarget: { DNSName } },
      { Type: 'AAAA', Name: 'reviews.example.org.', AliasTarget: { DNSName } },
    ]);
    expect(propertiesOf(large.service, 'AWS::ApiGateway::DomainName')).toEqual([]);
  });
  test('has security.txt, which CloudFront answers', () => {
    const [, , behavior, ...others] = distributionOf(large).CacheBehaviors;
    expect(others).toEqual([]);
    expect(behavior.PathPattern).toBe('/.well-known/security.txt');
    const [id, { Properties }] = theOne(large.service, 'AWS::CloudFront::Function');
    expect(behavior.FunctionAssociations).toEqual([
      { EventType: 'viewer-request', FunctionARN: { 'Fn::GetAtt': [id, 'FunctionARN'] } },
    ]);
    const answer = new Function(`${Properties.FunctionCode}; return handler();`)();
    expect(answer).toMatchObject({
      statusCode: 200,
      headers: { 'content-type': { value: 'text/plain; charset=utf-8' } },
    });
    expect(answer.body).toMatch(
      /^Contact: mailto:security@example\.org\nExpires: \S+\nCanonical: https:\/\/reviews\.example\.org\/\.well-known\/security\.txt\n$/,
    );
    expect(distributionOf(small).CacheBehaviors).toHaveLength(2);
  });
});

describe('the firewall', () => {
  const { firewall = { region: '', Resources: {} }, service } = large;

  test('is in us-east-1, for CloudFront, with the rules of the regional one', () => {
    expect(firewall.region).toBe('us-east-1');
    const acl = only(firewall, 'AWS::WAFv2::WebACL');
    expect(acl.Scope).toBe('CLOUDFRONT');
    const names = acl.Rules.map(({ Name }: { Name: string }) => Name);
    expect(names).toEqual(['RatePerAddress', 'IllRepute']);
    expect(Object.keys(firewall)).toContain('Outputs');
    const [arn] = Object.entries(firewall.Outputs ?? {});
    expect(arn?.[0]).toBe('FirewallArn');
  });
  test('blocks an address that sends too much, and what AWS calls of ill repute', () => {
    const [rate, illRepute] = only(firewall, 'AWS::WAFv2::WebACL').Rules;
    expect(rate.Statement).toEqual({
      RateBasedStatement: { Limit: 3000, AggregateKeyType: 'IP' },
    });
    expect(rate.Action).toMatchObject({ Block: { CustomResponse: { ResponseCode: 429 } } });
    expect(illRepute.Statement.ManagedRuleGroupStatement).toEqual({
      VendorName: 'AWS',
      Name: 'AWSManagedRulesAmazonIpReputationList',
    });
    // Otherwise its rules only count.
    expect(illRepute.OverrideAction).toEqual({ None: {} });
    expect(illRepute.Action).toBeUndefined();
  });
  test('comes before the distribution by a parameter, which the first deployment demands', () => {
    expect(distributionOf(large).WebACLId).toEqual({ Ref: 'FirewallArn' });
    const parameter = service.Parameters?.FirewallArn as Record<string, string>;
    expect(parameter.Default).toBeUndefined();
    const pattern = new RegExp(`^(${parameter.AllowedPattern})$`);
    const arn = (region: string, reach: string) =>
      `arn:aws:wafv2:${region}:123456789012:${reach}/webacl/Acl-x/1b2c`;
    expect(arn('us-east-1', 'global')).toMatch(pattern);
    expect(arn('eu-north-1', 'regional')).not.toMatch(pattern);
    expect('').not.toMatch(pattern);
  });
  test('is nowhere else, and nowhere unless asked for', () => {
    expect(resources(service, 'AWS::WAFv2::WebACLAssociation')).toEqual([]);
    expect(resources(service, 'AWS::WAFv2::WebACL')).toEqual([]);
    expect(small.firewall).toBeUndefined();
    expect(distributionOf(small).WebACLId).toBeUndefined();
  });
});

test('the id of the distribution is an output', () => {
  const outputs = Object.values(small.service.Outputs ?? {}).map(({ Value }) => textOf(Value));
  const [id] = theOne(small.service, 'AWS::CloudFront::Distribution');
  expect(outputs).toContain(`\${${id}}`);
  expect(small.health).toBeUndefined();
});

test('without the option there is no distribution, and no method demands a key', () => {
  expect(resources(plain.service, 'AWS::CloudFront::Distribution')).toEqual([]);
  const guards = methodsIn(definitionIn(plain.service)).flatMap((method) => method.guards);
  expect(new Set(guards)).toEqual(new Set(['accessToken']));
});

// Who is served while `cdn` is turned on or off, by the order of the templates' resources.

/** The steps from one way to the other. */
const steps = {
  'API Gateway': deployed(ownDomain).service,
  'CloudFront, open': deployed({ ...far, cdn: 'open' }).service,
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
  expect(Object.values(steps).map(servedBy)).toEqual([
    { isOpen: false, demandsKey: false },
    { isOpen: true, demandsKey: false },
    { isOpen: true, demandsKey: true },
  ]);
});

test('an address that was closed is open before CloudFront leads people there', () => {
  const template = steps['CloudFront, open'];
  const [distribution] = theOne(template, 'AWS::CloudFront::Distribution');
  expect(waitsFor(template, stageId)).toContain(distribution);
  expect(recordsOf(template)).toHaveLength(2);
  for (const record of recordsOf(template)) {
    expect(waitsFor(template, record)).toContain(stageId);
  }
});

describe('on the way to CloudFront', () => {
  const template = steps.CloudFront;
  const [distribution] = theOne(template, 'AWS::CloudFront::Distribution');
  const [stage] = theOne(template, 'AWS::ApiGateway::Stage');

  test('a distribution that fails leaves the records and the API as they were', () => {
    const [deployment] = theOne(template, 'AWS::ApiGateway::Deployment');
    expect(recordsOf(template)).toHaveLength(2);
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

test('the address moves between API Gateway and CloudFront by one pair of records', () => {
  const led = (template: Template) =>
    resources(template, 'AWS::Route53::RecordSet').map(([id, { Properties }]) => {
      const { AliasTarget, ...record } = Properties;
      return { record: { id, ...record }, target: textOf(AliasTarget.DNSName) };
    });
  const before = led(steps['API Gateway']);
  const after = led(steps.CloudFront);
  expect(after.map(({ record }) => record)).toEqual(before.map(({ record }) => record));
  expect(before.map(({ target }) => target)).not.toEqual(after.map(({ target }) => target));
  expect(before).toHaveLength(2);
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
  const template = steps['API Gateway'];
  const [mapping] = idsOf(template, 'AWS::ApiGateway::BasePathMapping');
  for (const record of recordsOf(template)) {
    const before = waitsFor(template, record);
    expect(before).toContain(stageId);
    expect(before).toContain(mapping);
  }
});
