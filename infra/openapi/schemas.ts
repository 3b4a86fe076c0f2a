import { isDeepStrictEqual } from 'node:util';
import { toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import * as account from '../../shared/account/presented.ts';
import * as changes from '../../shared/changes/presented.ts';
import * as entity from '../../shared/entity/presented.ts';
import * as http from '../../shared/http/presented.ts';
import * as oauth from '../../shared/oauth/presented.ts';
import * as review from '../../shared/review/presented.ts';
import * as user from '../../shared/user/presented.ts';
import * as vote from '../../shared/vote/presented.ts';

/** A JSON Schema of draft 2020-12, as OpenAPI 3.1 has them. */
export type JsonSchema = { [keyword: string]: unknown };

/** Every schema that is exported where things are presented goes by its name, and appears once. */
const named: Record<string, v.GenericSchema> = Object.fromEntries(
  Object.entries({
    ...account,
    ...changes,
    ...entity,
    ...review,
    ...user,
    ...vote,
    ...oauth,
    ...http,
  }).map(([name, schema]) => [name.replace(/^Presented|Body$/g, ''), schema]),
);

const options = {
  target: 'draft-2020-12',
  typeMode: 'input',
  // Checks that no keyword expresses are told in words.
  errorMode: 'ignore',
  definitions: named,
  overrideSchema: ({
    valibotSchema,
    jsonSchema,
  }: {
    valibotSchema: { type: string };
    jsonSchema: object;
  }) =>
    valibotSchema.type === 'loose_object'
      ? { ...jsonSchema, additionalProperties: true }
      : undefined,
  overrideRef: ({ referenceId }: { referenceId: string }) => refTo(referenceId),
} as const;

/** Where a named schema is found. */
function refTo(name: string): string {
  return `#/components/schemas/${name}`;
}

/** The named schemas that these parts of the document refer to, and those that they refer to. */
export function referredSchemas(...parts: unknown[]): Record<string, JsonSchema> {
  const definitions = toJsonSchemaDefs(named, options) as Record<string, JsonSchema>;
  const all = Object.fromEntries(
    Object.entries(definitions).map(([name, schema]) => [name, plain(schema)]),
  );
  const found = new Set<string>();
  const search = (part: unknown) => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (found.has(name)) continue;
      found.add(name);
      search(all[name]);
    }
  };
  search(parts);
  return Object.fromEntries(Object.entries(all).filter(([name]) => found.has(name)));
}

/** What a schema takes, as JSON Schema: a reference where it has a name. */
export function jsonSchemaOf(schema: v.GenericSchema): JsonSchema {
  const { $schema: _, $defs: __, ...converted } = toJsonSchema(shapeOf(schema), options);
  return plain(converted);
}

/** The schema without the guard that stands before it for the sake of a better message. */
function shapeOf(schema: v.GenericSchema): v.GenericSchema {
  if ('wrapped' in schema) {
    return { ...schema, wrapped: shapeOf(schema.wrapped as v.GenericSchema) } as v.GenericSchema;
  }
  const [first, second] = 'pipe' in schema ? (schema.pipe as v.GenericSchema[]) : [];
  return first?.type === 'custom' && second ? second : schema;
}

/** The fields of an object schema, whatever it is wrapped in; none of another. */
export function fieldsOf(schema: v.GenericSchema | undefined): [string, v.GenericSchema][] {
  if (!schema) return [];
  const shape = shapeOf(schema);
  if ('wrapped' in shape) return fieldsOf(shape.wrapped as v.GenericSchema);
  return 'entries' in shape ? Object.entries(shape.entries as v.ObjectEntries) : [];
}

/** A parameter arrives as text. What is turned into a number is one. */
export function parameterSchemaOf(schema: v.GenericSchema): JsonSchema {
  const converted = jsonSchemaOf(schema);
  const actions = flat(schema) as { type: string; operation?: unknown; requirement?: unknown }[];
  if (!actions.some(({ operation }) => operation === Number)) return converted;
  const bound = (type: string) => actions.find((action) => action.type === type)?.requirement;
  const maximum = bound('max_value');
  return {
    type: 'integer',
    minimum: bound('min_value'),
    ...(maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
    ...('default' in converted && { default: Number(converted.default) }),
  };
}

function flat(part: unknown): unknown[] {
  const { wrapped, pipe } = part as { wrapped?: unknown; pipe?: unknown[] };
  if (wrapped) return flat(wrapped);
  return pipe ? pipe.flatMap(flat) : [part];
}

/** The same in fewer words: a type that may be null, no default that says nothing, and a name for a list of values that has one. */
function plain(schema: JsonSchema): JsonSchema {
  const within = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, plainValue(value)]),
  );
  if (within.default === null || within.default === '') delete within.default;
  if (Array.isArray(within.required) && within.required.length === 0) delete within.required;
  const { anyOf, ...rest } = within;
  const [only, none, ...more] = (anyOf ?? []) as JsonSchema[];
  const isSimple = only?.type !== undefined && only.enum === undefined && more.length === 0;
  if (isSimple && none?.type === 'null') return { ...only, type: [only.type, 'null'], ...rest };
  return nameOfValues(within);
}

function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  const isSchema = typeof value === 'object' && value !== null;
  return isSchema ? plain(value as JsonSchema) : value;
}

function nameOfValues(schema: JsonSchema): JsonSchema {
  if (!Array.isArray(schema.enum) || 'description' in schema) return schema;
  const [name] =
    Object.entries(named).find(
      ([, { type, ...known }]) =>
        type === 'picklist' && 'options' in known && isDeepStrictEqual(known.options, schema.enum),
    ) ?? [];
  if (name === undefined) return schema;
  const { enum: _, type: __, ...rest } = schema;
  return { $ref: refTo(name), ...rest };
}

/** An example of what a schema describes, put together from those of its parts. What is optional is left out. */
export function exampleOf(schema: v.GenericSchema): unknown {
  const shape = schema as {
    type: string;
    pipe?: { type: string; examples?: unknown[] }[];
    entries?: v.ObjectEntries;
    item?: v.GenericSchema;
    value?: v.GenericSchema;
    wrapped?: v.GenericSchema;
  };
  const examples = shape.pipe?.flatMap(({ examples }) => examples ?? []) ?? [];
  if (examples.length > 0) return examples[0];
  if (shape.entries) {
    const needed = Object.entries(shape.entries).filter(([, { type }]) => type !== 'optional');
    return Object.fromEntries(
      needed.map(([name, entry]) => [name, exampleOf(entry as v.GenericSchema)]),
    );
  }
  if (shape.item) return [exampleOf(shape.item)];
  if (shape.wrapped) return exampleOf(shape.wrapped);
  if (shape.value) {
    const value = exampleOf(shape.value);
    return { [(value as { id: string }).id]: value };
  }
  throw new Error(`There is no example of a ${shape.type}`);
}
