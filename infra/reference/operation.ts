import { html } from 'hono/html';
import { type ErrorCode, errors, occasions } from '../openapi/responses.ts';
import { curlOf } from './curl.ts';
import type { Call, Description, Schema } from './description.ts';
import { code, fieldTable, joined, limitsOf, nameOf, parameterTable, typeOf } from './fields.ts';
import { block, codeBlock, heading, inline, type Markup } from './markup.ts';

// An operation in the reference, and the schemas that it shows.

/** Errors of every endpoint. Only the page on errors has them. */
export const everywhere = ['too_many_requests', 'server_error', 'service_unavailable'];

/** Returns the operation that shows each schema, by name: the only one that answers with it. */
export function ownersOf({ components }: Description, calls: readonly Call[]): Map<string, string> {
  const within = JSON.stringify(components.schemas);
  const names = Object.keys(components.schemas).map((name) => {
    const users = calls.filter((call) => answerOf(call).name === name);
    const isUsed = within.includes(`"#/components/schemas/${name}"`);
    return [name, users.length === 1 && !isUsed ? users[0]?.operationId : undefined] as const;
  });
  return new Map(names.flatMap(([name, owner]) => (owner === undefined ? [] : [[name, owner]])));
}

function answerOf({ responses }: Call) {
  const { description = '', headers = {}, content = {} } = responses[200] ?? {};
  const [[type = '', { schema = {}, example }] = ['', { schema: {} }]] = Object.entries(content);
  return { description, headers: Object.keys(headers), type, example, name: nameOf(schema) };
}

/** Describes a schema: its text, then its fields or its values. */
export function schemaOf(schema: Schema): Markup {
  const text = schema.description && html`<p>${inline(`${schema.description}.`)}</p>`;
  if (schema.properties) return html`${text}${fieldTable(schema)}`;
  return html`${text}<p>${typeOf(schema)}. ${limitsOf(schema, '', Number.POSITIVE_INFINITY)}</p>`;
}

/** Describes an operation: who may call it, a command, its fields, answer and errors. */
export function operationOf(
  call: Call,
  schemas: Description['components']['schemas'],
  owners: ReadonlyMap<string, string>,
): Markup {
  const { operationId, method, path, summary, description, parameters = [], requestBody } = call;
  const fields = parameters.filter((each) => each.in !== 'header');
  const headers = parameters.filter((each) => each.in === 'header').map(({ name }) => name);
  const [body] = Object.values(requestBody?.content ?? {});
  const answer = answerOf(call);
  const isOwner = answer.name !== undefined && owners.get(answer.name) === operationId;
  const schema = schemas[answer.name ?? ''];
  return html`<section>
${heading(2, operationId, summary)}<p><code>${method} ${path}</code> · ${accessOf(call)}</p>
${description && block(description)}
${codeBlock('sh', curlOf(call))}
${fields.length > 0 && html`<h3>Parameters</h3>\n${parameterTable(fields)}`}
${headers.length > 0 && html`<p>Request headers: ${linked(headers)}</p>`}
${body && html`<h3>Body${requestBody?.required === false && ', optional'}</h3>\n${fieldTable(body.schema)}`}
<h3>Answer</h3>
<p${isOwner && html` id="${answer.name}"`}>200, ${nameLink(answer.name)}${answer.type !== 'application/json' && html` as ${code(answer.type)}`}${schema?.description !== answer.description && html`: ${inline(answer.description)}`}</p>
${isOwner && schema && schemaOf(schema)}
${answer.headers.length > 0 && html`<p>Headers: ${linked(answer.headers)}</p>`}
<details><summary>Example of the answer</summary>
${exampleOf(answer.type, answer.example)}</details>
${errorsOf(call)}
</section>
`;
}

/** Says who may call an operation. */
function accessOf({ security }: Call): Markup {
  const scope = security.flatMap(({ oauth2 }) => oauth2 ?? [])[0];
  if (scope) return html`token with the <a href="#access">scope</a> ${code(scope)}`;
  if (security.some(({ bearer }) => bearer)) return html`any <a href="#access">token</a>`;
  if (security.some(({ basic }) => basic)) return html`client id and secret, as form or Basic`;
  return html`public`;
}

function nameLink(name?: string) {
  return name && html`<a href="#${name}">${name}</a>`;
}

function linked(headers: readonly string[]): Markup[] {
  const links = headers.map((name) => html`<a href="#${name}"><code>${name}</code></a>`);
  return joined(links, ', ');
}

function exampleOf(type: string, example: unknown): Markup {
  if (typeof example === 'string') return codeBlock('text', example);
  return codeBlock(type === 'application/json' ? 'json' : 'text', JSON.stringify(example, null, 2));
}

/** The errors of an operation: conditions of its own, then codes with their usual conditions. */
function errorsOf({ responses }: Call): Markup {
  const all = Object.values(responses).flatMap(({ description }) =>
    [...description.matchAll(/^`(\w+)`: (.*)$/gm)].map(([, name = '', when = '']) => {
      return { name: name as ErrorCode, when };
    }),
  );
  const own = all.filter(({ name, when }) => when !== occasions[name]);
  const usual = all.filter(({ name, when }) => when === occasions[name]);
  const others = usual.filter(({ name }) => !everywhere.includes(name));
  if (own.length + others.length === 0) return html``;
  const link = (name: ErrorCode) =>
    html`<a href="#${name}"><code>${errors[name][0]} ${name}</code></a>`;
  return html`<h3>Errors</h3>
<ul>${own.map(({ name, when }) => html`<li>${link(name)}: ${inline(when)}</li>`)}
${
  others.length > 0 &&
  html`<li>${own.length > 0 && 'Also '}${joined(
    others.map(({ name }) => link(name)),
    ', ',
  )}</li>`
}</ul>`;
}
