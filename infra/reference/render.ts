import { html } from 'hono/html';
import { type ErrorCode, errors, occasions } from '../openapi/responses.ts';
import { curlOf } from './curl.ts';
import { type Call, callsOf, type Description, type Schema } from './description.ts';
import { code, fieldTable, joined, limitsOf, nameOf, parameterTable, typeOf } from './fields.ts';
import { block, codeBlock, heading, inline, type Markup } from './markup.ts';
import { messageContents, messageSection, messages } from './messages.ts';

/** A link of the contents, with the links below it. */
interface Entry {
  id: string;
  text: string;
  within?: readonly Entry[];
}

/** Errors of every endpoint. They stand in the section on errors only. */
const everywhere = ['too_many_requests', 'server_error', 'service_unavailable'];

/** Renders the reference for `shared/features/docs/reference.json` from the OpenAPI description. */
export function renderReference(description: Description, authUrl: string) {
  const calls = callsOf(description);
  const { schemas } = description.components;
  const owners = ownersOf(description, calls);
  const shared = Object.entries(schemas).filter(([name]) => !owners.has(name) && !isError(name));
  const answering = description.tags.filter(({ name }) => name !== messages);
  const sections = answering.map(({ name, description: about }) => {
    const operations = calls.filter(({ tags }) => tags.includes(name));
    return { name, about, operations, id: name.toLowerCase().replaceAll(/\W+/g, '-') };
  });
  const contents: Entry[] = [
    { id: 'access', text: 'Access' },
    ...sections.map(({ id, name, operations }) => {
      const within = operations.map(({ operationId, summary }) => {
        return { id: operationId, text: summary };
      });
      return { id, text: name, within };
    }),
    messageContents(description),
    { id: 'headers', text: 'Headers' },
    { id: 'errors', text: 'Errors' },
    { id: 'schemas', text: 'Schemas' },
    { id: 'licences', text: 'Licences' },
  ];
  const article = html`${block(description.info.description)}
${accessSection(description, authUrl)}
${sections.map(
  ({ id, name, about, operations }) => html`${heading(2, id, name)}<p>${inline(about)}</p>
${operations.map((call) => operationOf(call, schemas, owners))}`,
)}
${messageSection(description, authUrl)}
${headerSection(description, calls)}
${errorSection(schemas, authUrl)}
${heading(2, 'schemas', 'Schemas')}
${shared.map(([name, schema]) => html`${heading(3, name, name)}${schemaOf(schema)}`)}
${licenceSection(description, authUrl)}`;
  return { authUrl, contents: `${listOf(contents)}`, html: `${article}` };
}

function listOf(entries: readonly Entry[]): Markup {
  return html`<ol>${entries.map(
    ({ id, text, within }) =>
      html`<li><a href="#${id}">${text}</a>${within && listOf(within)}</li>`,
  )}</ol>`;
}

/** Returns the operation that shows each schema, by name: the only one that answers with it. */
function ownersOf({ components }: Description, calls: readonly Call[]): Map<string, string> {
  const within = JSON.stringify(components.schemas);
  const names = Object.keys(components.schemas).map((name) => {
    const users = calls.filter((call) => answerOf(call).name === name);
    const isUsed = within.includes(`"#/components/schemas/${name}"`);
    return [name, users.length === 1 && !isUsed ? users[0]?.operationId : undefined] as const;
  });
  return new Map(names.flatMap(([name, owner]) => (owner === undefined ? [] : [[name, owner]])));
}

const isError = (name: string) => ['Error', 'OAuthError'].includes(name);

function answerOf({ responses }: Call) {
  const { description = '', headers = {}, content = {} } = responses[200] ?? {};
  const [[type = '', { schema = {}, example }] = ['', { schema: {} }]] = Object.entries(content);
  return { description, headers: Object.keys(headers), type, example, name: nameOf(schema) };
}

function schemaOf(schema: Schema): Markup {
  const text = schema.description && html`<p>${inline(`${schema.description}.`)}</p>`;
  if (schema.properties) return html`${text}${fieldTable(schema)}`;
  return html`${text}<p>${typeOf(schema)}. ${limitsOf(schema, '', Number.POSITIVE_INFINITY)}</p>`;
}

function accessSection({ servers, components }: Description, authUrl: string): Markup {
  const { description, flows } = components.securitySchemes.oauth2;
  const scopes = Object.entries(flows.authorizationCode.scopes);
  return html`${heading(2, 'access', 'Access')}
<p>The base URL is <code>${servers[0]?.url}</code>. Commands take an access token from <code>$TOKEN</code>. <a href="${authUrl}/account/tokens">Create a personal access token</a> and put it into your shell:</p>
${codeBlock('sh', 'export TOKEN=rva_…\n')}
<p>An access token has these scopes, or none. ${description}</p>
<table class="rows fields">
<thead><tr><th scope="col">Scope</th><th scope="col">Allows</th></tr></thead>
<tbody>${scopes.map(([scope, text]) => html`<tr><td>${code(scope)}</td><td>${text}.</td></tr>\n`)}</tbody>
</table>`;
}

function operationOf(
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
${heading(3, operationId, summary)}<p><code>${method} ${path}</code> · ${accessOf(call)}</p>
${description && block(description)}
${codeBlock('sh', curlOf(call))}
${fields.length > 0 && html`<h4>Parameters</h4>\n${parameterTable(fields)}`}
${headers.length > 0 && html`<p>Request headers: ${linked(headers)}</p>`}
${body && html`<h4>Body${requestBody?.required === false && ', optional'}</h4>\n${fieldTable(body.schema)}`}
<h4>Answer</h4>
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
  return html`<h4>Errors</h4>
<ul>${own.map(({ name, when }) => html`<li>${link(name)}: ${inline(when)}</li>`)}
${
  others.length > 0 &&
  html`<li>${own.length > 0 && 'Also '}${joined(
    others.map(({ name }) => link(name)),
    ', ',
  )}</li>`
}</ul>`;
}

function headerSection({ components }: Description, calls: readonly Call[]): Markup {
  const requested = new Map(
    calls
      .flatMap(({ parameters = [] }) => parameters.filter((each) => each.in === 'header'))
      .map(({ name, description }) => [name, description]),
  );
  const row = (name: string, text: string, example?: string | number) =>
    html`<tr id="${name}"><td>${code(name)}</td><td>${inline(`${text}.`)}${example !== undefined && html` For example ${code(example)}`}</td></tr>\n`;
  const answered = Object.entries(components.headers);
  return html`${heading(2, 'headers', 'Headers')}
<table class="rows fields">
<thead><tr><th scope="col">Request header</th><th scope="col">Description</th></tr></thead>
<tbody>${[...requested].map(([name, text]) => row(name, text))}</tbody>
</table>
<table class="rows fields">
<thead><tr><th scope="col">Answer’s header</th><th scope="col">Description</th></tr></thead>
<tbody>${answered.map(([name, { description, example }]) => row(name, description, example))}</tbody>
</table>`;
}

function errorSection(schemas: Description['components']['schemas'], authUrl: string): Markup {
  const shapes = Object.entries(schemas).filter(([name]) => isError(name));
  const rows = Object.entries(errors).map(([name, [status]]) => {
    const when = occasions[name as ErrorCode] ?? '';
    return html`<tr id="${name}"><td>${status} <a href="${authUrl}/docs/errors#${name}">${code(name)}</a></td><td>${inline(when)}</td></tr>\n`;
  });
  return html`${heading(2, 'errors', 'Errors')}
<p>Each code leads to its remedy in the guide to errors. Every endpoint can answer ${joined(everywhere.map(code), ', ')}.</p>
<table class="rows fields">
<thead><tr><th scope="col">Code</th><th scope="col">Usual condition</th></tr></thead>
<tbody>${rows}</tbody>
</table>
${shapes.map(([name, schema]) => html`${heading(3, name, name)}${schemaOf(schema)}`)}`;
}

function licenceSection({ info }: Description, authUrl: string): Markup {
  return html`${heading(2, 'licences', 'Licences')}
<p>Each review has a licence of its own, which its author chose: see <a href="${authUrl}/docs/versions#use-the-data">Use the data</a>. The software of this service is under ${info.license.identifier}. That licence does not hold for the data.</p>`;
}
