import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, parse } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Template as Synthesized } from 'aws-cdk-lib/assertions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { App, Stack } from 'aws-cdk-lib/core';
import { DataStack } from '../../../infra/aws/data-stack.ts';
import { keepEnvironment } from '../../../infra/aws/environment.ts';
import { readOptions } from '../../../infra/aws/options.ts';
import { ServiceStack } from '../../../infra/aws/service-stack.ts';
import { resources, type Template } from './checks.ts';

const folder = mkdtempSync(join(tmpdir(), 'review-service-choices-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { context } = JSON.parse(
  readFileSync(new URL('../../../cdk.json', import.meta.url), 'utf8'),
) as { context: Record<string, unknown> };

/** Functions without code, as only their surroundings are looked at. */
const bundles = new Map(
  readdirSync(new URL('../../../functions', import.meta.url)).map((file) => {
    return [parse(file).name, { directory: folder, bytes: 0, commands: [], variables: [] }];
  }),
);

/** The templates of a deployment with these options. */
function deployed(chosen: Record<string, string | number> = {}) {
  const app = new App({ context: { ...context, ...chosen } });
  const options = readOptions(app.node);
  const data = new DataStack(app, `${options.name}-data`, options);
  const service = new ServiceStack(app, options.name, { options, data, bundles });
  return { data: json(data), service: json(service) };
}

function json(stack: Stack): Template & { Parameters: Record<string, unknown>; Rules: unknown } {
  return Synthesized.fromStack(stack).toJSON() as ReturnType<typeof json>;
}

const plain = deployed();

describe('a first deployment that fails', () => {
  test('leaves no keys, and is not refused to delete what is protected', () => {
    const policies = (type: string) =>
      resources(plain.data, type).map(([, { DeletionPolicy, UpdateReplacePolicy }]) => [
        DeletionPolicy,
        UpdateReplacePolicy,
      ]);
    expect(policies('AWS::SecretsManager::Secret')).toEqual([
      ['RetainExceptOnCreate', 'Retain'],
      ['RetainExceptOnCreate', 'Retain'],
    ]);
    expect(policies('AWS::DynamoDB::Table')).toEqual([['Retain', 'Retain']]);
    expect(policies('AWS::Cognito::UserPool')).toEqual([['Retain', 'Retain']]);
  });
});

describe('the environment', () => {
  test.each([
    ['data', plain.data],
    ['service', plain.service],
  ])('of the %s stack is one that CloudFormation keeps at an update', (_, template) => {
    expect(template.Parameters.Environment).toMatchObject({
      Type: 'String',
      Default: 'production',
      AllowedValues: ['production'],
    });
  });
  test('of a production stack is refused by the template for development, with a way out', () => {
    const stack = new Stack(new App(), 'Other');
    keepEnvironment(stack, false);
    new Topic(stack, 'Anything');
    const { Parameters, Rules } = json(stack);
    expect(Parameters.Environment).toMatchObject({
      Default: 'development',
      AllowedValues: ['development'],
      ConstraintDescription: expect.stringContaining('--context environment=production'),
    });
    expect(Rules).toMatchObject({
      KeepsEnvironment: {
        Assertions: [
          {
            Assert: { 'Fn::Equals': [{ Ref: 'Environment' }, 'development'] },
            AssertDescription: expect.stringContaining('this stack is production'),
          },
        ],
      },
    });
  });
});
