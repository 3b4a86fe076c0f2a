import { importFunction } from '../../../infra/functions.ts';
import { routes } from '../../../shared/base/routes.ts';
import { openApiAt } from '../../../shared/features/docs/openapi.ts';
import { isJson } from '../../helpers/contract.ts';
import { invoke } from '../../helpers/invoke.ts';
import { makeScene, sampleOf } from '../../helpers/samples.ts';

// The limits of parameters in the description are those of the service.

interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: string[];
  pattern?: string;
  minLength?: number;
  minimum?: number;
  maximum?: number;
}

interface Parameter {
  name: string;
  in: 'query' | 'header' | 'path';
  schema: Schema;
}

const { reader, scene } = await makeScene();
const { paths, components } = openApiAt('https://api.example/ws');
const named = components.schemas as Record<string, Schema>;
const described = paths as unknown as Record<string, Record<string, { parameters?: Parameter[] }>>;

const parameters = routes.filter(isJson).flatMap((route) => {
  const { parameters = [] } = described[route.path]?.[route.method.toLowerCase()] ?? {};
  return parameters
    .filter((each) => each.in !== 'path')
    .map(({ name, in: place, schema }) => {
      const { $ref } = schema;
      const resolved = $ref === undefined ? schema : (named[$ref.split('/').at(-1) ?? ''] ?? {});
      return { route, name, place, schema: resolved };
    });
});

type Case = (typeof parameters)[number];

/** Sends a value for a parameter. Returns whether the service refuses it, by the name. */
async function isRefused({ route, name, place }: Case, value: string): Promise<boolean> {
  const { handler, docs } = await importFunction(route.operation);
  const { path, query } = sampleOf(route, scene);
  const { status, body } = await invoke(handler, {
    method: route.method,
    path,
    query: place === 'query' ? { ...query, [name]: value } : query,
    headers: { 'Content-Type': 'application/json', ...(place === 'header' && { [name]: value }) },
    caller: reader.caller,
    body: docs.example,
  });
  return status === 400 && body.description.startsWith(`${name} `);
}

const isInteger = ({ schema }: Case) => schema.type === 'integer';
const titled = (cases: Case[]) =>
  cases.map((each) => [`${each.name} of ${each.route.operation}`, each] as const);

test('there are many', () => {
  expect(parameters.length).toBeGreaterThan(30);
  expect(parameters.filter(isInteger).length).toBeGreaterThan(8);
});

test.each(titled(parameters.filter((each) => !isInteger(each))))(
  '%s: the service takes an empty text if the description does',
  async (_, parameter) => {
    const { type, format, pattern, minLength = 0, enum: values } = parameter.schema;
    const takes =
      type === 'string' &&
      minLength === 0 &&
      format === undefined &&
      values === undefined &&
      new RegExp(pattern ?? '').test('');
    expect(await isRefused(parameter, '')).toBe(!takes);
  },
);

test.each(titled(parameters.filter(isInteger)))(
  '%s: the service has the range of the description',
  async (_, parameter) => {
    const { minimum = Number.NaN, maximum = Number.NaN } = parameter.schema;
    for (const value of [minimum, maximum]) {
      expect([value, await isRefused(parameter, `${value}`)]).toEqual([value, false]);
    }
    for (const value of [BigInt(minimum) - 1n, BigInt(maximum) + 1n]) {
      expect([value, await isRefused(parameter, `${value}`)]).toEqual([value, true]);
    }
  },
);
