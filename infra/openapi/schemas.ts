import { isDeepStrictEqual } from 'node:util';
import {
  type ConversionConfig,
  type JsonSchema,
  toJsonSchema,
  toJsonSchemaDefs,
} from '@valibot/to-json-schema';
import * as v from 'valibot';
import * as entity from '../../shared/core/entity/presented.ts';
import * as http from '../../shared/core/http/presented.ts';
import * as oauth from '../../shared/core/oauth/presented.ts';
import * as review from '../../shared/core/review/presented.ts';
import * as summary from '../../shared/core/summary/presented.ts';
import * as user from '../../shared/core/user/presented.ts';
import * as vote from '../../shared/core/vote/presented.ts';
import { presented as account } from '../../shared/features/account/public.ts';
import { presented as changes } from '../../shared/features/changes/public.ts';
import { presented as webhooks } from '../../shared/features/webhooks/public.ts';

// Converts valibot schemas to JSON Schema for the OpenAPI document.

const all = {
  ...account,
  ...changes,
  ...entity,
  ...review,
  ...summary,
  ...user,
  ...vote,
  ...oauth,
  ...http,
  ...webhooks,
};

/** Named schemas: every export of the presented.ts files, by its name. */
const named: Record<string, v.GenericSchema> = Object.fromEntries(
  Object.entries(all).map(([name, schema]) => [name.replace(/^Presented|Body$/g, ''), schema]),
);

const config: ConversionConfig = {
  target: 'draft-2020-12',
  typeMode: 'input',
  // Checks without a keyword in JSON Schema are described in words.
  errorMode: 'ignore',
  definitions: named,
  overrideSchema: ({ valibotSchema, jsonSchema }) => improved(valibotSchema, jsonSchema),
  // Generators of most languages make 32 bits of an integer without a format.
  overrideAction: ({ jsonSchema }) =>
    (jsonSchema.maximum ?? 0) >= 2 ** 31 ? { ...jsonSchema, format: 'int64' } : undefined,
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
};

export const schemas = toJsonSchemaDefs(named, config);

/** Returns the input of a schema as JSON Schema, or a reference if the schema is named. */
export function jsonSchemaOf(schema: v.GenericSchema): JsonSchema {
  const { $schema: _, $defs: __, ...converted } = toJsonSchema(shapeOf(schema), config);
  return withNames(converted);
}

/** Puts the name of a schema in the place of its values, wherever they stand. */
function withNames<T>(value: T): T | JsonSchema {
  if (Array.isArray(value)) return value.map(withNames) as T;
  if (typeof value !== 'object' || value === null) return value;
  const values = 'enum' in value ? value.enum : undefined;
  const [name] =
    Object.entries(schemas).find(([, each]) => values && isDeepStrictEqual(each.enum, values)) ??
    [];
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  const entries = Object.entries(value).map(([key, each]) => [key, withNames(each)]);
  return Object.fromEntries(entries);
}

/** Returns a better schema where the converter's result is missing or awkward, else undefined. */
function improved(schema: Shape, converted: JsonSchema): JsonSchema | undefined {
  const { type, anyOf: [only] = [], default: preset } = converted;
  switch (schema.type) {
    case 'loose_object':
      return { ...converted, additionalProperties: true };
    case 'nullable':
    case 'nullish': {
      // An absent field already means null, so a default of null is not stated.
      if (typeof only !== 'object' || !only.type || only.enum) return undefined;
      const types = [only.type, 'null'].flat() as JsonSchema['type'];
      return { ...only, type: types, default: preset ?? undefined };
    }
    case 'optional':
      // A parameter is a string, and so is its default.
      if (preset === undefined) return undefined;
      if (type === 'integer') return { ...converted, default: Number(preset) };
      return type === 'boolean' ? { ...converted, default: preset === 'true' } : undefined;
    case 'literal':
      return { ...converted, type: typeof converted.const as JsonSchema['type'] };
    case 'union': {
      const { anyOf: oneOf, ...rest } = converted;
      return { ...rest, oneOf };
    }
    case 'variant':
      return merged(schema.key ?? '', (converted.oneOf ?? []) as JsonSchema[]);
    case 'picklist': {
      const isSame = ({ pipe: [first] = [] }: Shape) =>
        first !== schema && isDeepStrictEqual(first?.options, schema.options);
      const [name] = Object.entries(named).find(([, each]) => isSame(each)) ?? [];
      return name === undefined ? undefined : { $ref: `#/components/schemas/${name}` };
    }
  }
}

/** Merges several forms into one, which people can fill in when they try an endpoint. */
function merged(key: string, forms: JsonSchema[]): JsonSchema {
  const all: Record<string, JsonSchema> = Object.assign({}, ...forms.map((it) => it.properties));
  const kinds = forms.map(({ properties: { [key]: kind } = {} }) => (kind as JsonSchema).const);
  const isNeeded = (name: string) => forms.every(({ required }) => required?.includes(name));
  return {
    type: 'object',
    properties: { ...all, [key]: { type: 'string', enum: kinds } as JsonSchema },
    required: Object.keys(all).filter(isNeeded),
  };
}

/** Fields that valibot schemas and the items of their pipes may have. */
interface Shape {
  type: string;
  pipe?: Shape[];
  options?: unknown;
  key?: string;
  entries?: Record<string, v.GenericSchema>;
  item?: v.GenericSchema;
  value?: v.GenericSchema;
  wrapped?: v.GenericSchema;
}

/** Returns the schema without a leading check that exists only for a better message. */
function shapeOf(schema: v.GenericSchema & Shape): v.GenericSchema & Shape {
  if (schema.wrapped) return { ...schema, wrapped: shapeOf(schema.wrapped) };
  const [first, second] = schema.pipe ?? [];
  return first?.type === 'custom' && second ? (second as v.GenericSchema) : schema;
}

/** Returns the fields of an object schema, also of a wrapped one; none for another schema. */
export function fieldsOf(schema?: v.GenericSchema & Shape): [string, v.GenericSchema][] {
  const { wrapped, entries = {} } = schema ? shapeOf(schema) : {};
  return wrapped ? fieldsOf(wrapped) : Object.entries(entries);
}

/** Composes an example of the parts, without optional ones. Throws if a part has no example. */
export function exampleOf(schema: v.GenericSchema): unknown {
  const { type, entries, item, wrapped, value }: Shape = schema;
  const [example]: unknown[] = v.getExamples(schema);
  if (example !== undefined) return example;
  if (entries) {
    const needed = Object.entries(entries).filter(([, entry]) => entry.type !== 'optional');
    return Object.fromEntries(needed.map(([name, entry]) => [name, exampleOf(entry)]));
  }
  if (item) return [exampleOf(item)];
  if (wrapped) return exampleOf(wrapped);
  if (!value) throw new Error(`A ${type} schema has no example`);
  const one = exampleOf(value) as { id: string };
  return { [one.id]: one };
}
