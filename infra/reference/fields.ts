import { html } from 'hono/html';
import type { Parameter, Schema } from './description.ts';
import { inline, type Markup } from './markup.ts';

/** A row of a table: a field of an object, or a parameter. */
interface Field {
  name: string;
  schema: Schema;
  description?: string | undefined;
  isRequired: boolean;
}

/** More values stand at the schema that has them, not in each field. */
const mostValues = 15;

/** A table of the fields of an object, also of objects in it: `user.name`, `reviews[].id`. */
export function fieldTable(schema: Schema): Markup {
  return tableOf(fieldsOf(schema));
}

/** A table of parameters. */
export function parameterTable(parameters: readonly Parameter[]): Markup {
  return tableOf(
    parameters.map(({ name, schema, description, required }) => {
      return { name, schema, description, isRequired: required };
    }),
  );
}

function tableOf(fields: readonly Field[]): Markup {
  return html`<table class="rows fields">
<thead><tr><th scope="col">Name</th><th scope="col">Description</th></tr></thead>
<tbody>${fields.map(rowOf)}</tbody>
</table>
`;
}

function rowOf({ name, schema, description, isRequired }: Field): Markup {
  const text = description ?? schema.description;
  return html`<tr><td><code>${name}</code><br><span class="soft">${typeOf(schema)}${isRequired && ', required'}</span></td><td>${text && inline(`${text}.`)} ${limitsOf(schema, text)}</td></tr>
`;
}

function fieldsOf(schema: Schema, prefix = ''): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const name = `${prefix}${key}`;
    const isRequired = schema.required?.includes(key) ?? false;
    const within = property.items
      ? fieldsOf(property.items, `${name}[].`)
      : fieldsOf(property, `${name}.`);
    return [{ name, schema: property, isRequired }, ...within];
  });
}

/** The type of a value, with links to named schemas. */
export function typeOf(schema: Schema): Markup {
  const name = nameOf(schema);
  if (name) return html`<a href="#${name}">${name}</a>`;
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return html`${joined(either.map(typeOf), ' or ')}`;
  const [type = 'any value', ...others] = [schema.type ?? []].flat();
  const orNull = others.map((other) => ` or ${other}`).join('');
  if (schema.items) return html`array of ${typeOf(schema.items)}${orNull}`;
  if (typeof schema.additionalProperties === 'object') {
    return html`object of ${typeOf(schema.additionalProperties)} by key${orNull}`;
  }
  return html`${(type === 'string' && schema.format) || type}${orNull}`;
}

/** The values that a schema allows, and its default, without a range that the text has already. */
export function limitsOf(schema: Schema, text = '', most = mostValues): Markup {
  const { minimum, minLength, maxLength, pattern, default: preset } = schema;
  // The largest exact number is no limit that anybody reaches.
  const maximum = schema.maximum === Number.MAX_SAFE_INTEGER ? undefined : schema.maximum;
  const values = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  const limits: Markup[] = [];
  if (values.length > 0 && values.length <= most) {
    limits.push(html`${joined(values.map(code), ', ')}.`);
  }
  if (minimum !== undefined) {
    const range = maximum === undefined ? `From ${minimum}` : `${minimum} to ${maximum}`;
    if (!text.includes(range)) limits.push(html`${range}.`);
  }
  if (maxLength !== undefined) {
    const range = minLength === undefined ? `At most ${maxLength}` : `${minLength} to ${maxLength}`;
    if (!text.includes(range)) limits.push(html`${range} characters.`);
  }
  // A long pattern is for machines, and its text says it in words.
  if (pattern !== undefined && pattern.length < 80 && !schema.format)
    limits.push(html`Pattern: ${code(pattern)}.`);
  if (preset !== undefined) limits.push(html`Default: ${code(preset)}.`);
  return limits.length > 0 ? html`<span class="soft">${joined(limits, ' ')}</span>` : html``;
}

/** The name of the schema that this one refers to. */
export function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1);
}

/** A value as code. */
export function code(value: unknown): Markup {
  return html`<code>${`${value}`}</code>`;
}

/** Markup with a text between each two. */
export function joined(parts: readonly Markup[], between: string): Markup[] {
  return parts.map((part, i) => html`${i > 0 && between}${part}`);
}
