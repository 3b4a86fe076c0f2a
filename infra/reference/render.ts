import { html } from 'hono/html';
import { type ErrorCode, errors, occasions } from '../openapi/responses.ts';
import { type Call, callsOf, type Description } from './description.ts';
import { code, joined } from './fields.ts';
import { block, codeBlock, heading, inline, type Markup } from './markup.ts';
import { messageSection, messages } from './messages.ts';
import { everywhere, operationOf, ownersOf, schemaOf } from './operation.ts';

/** A link of the contents. `call` is the method and path of an operation. */
interface Entry {
  id: string;
  text: string;
  call?: string;
}

/** A page of the reference: a group of endpoints, the messages, or what all of them share. */
interface Section {
  slug: string;
  title: string;
  description: string;
  entries: readonly Entry[];
  article: Markup;
}

/**
 * Renders the reference for `shared/features/docs/reference.json` from the OpenAPI description: a
 * page for each section, and what its index has before and after the entries. An entry has the id
 * of a part, and the page with that part if it is another one. Links between pages begin with `/`.
 */
export function renderReference(description: Description, authUrl: string) {
  const sections = [...groupsOf(description, authUrl), ...sharedOf(description, authUrl)];
  const before = html`${block(description.info.description)}\n${accessSection(description, authUrl)}`;
  const after = licenceSection(description, authUrl);
  const pages = new Map([
    ...idsIn(before, ''),
    ...sections.flatMap(({ slug, article }) => idsIn(article, slug)),
  ]);

  /** Returns the page that has a part. */
  function pageOf(id: string): string {
    const slug = pages.get(id);
    if (slug === undefined) throw new Error(`No page of the reference has #${id}`);
    return slug;
  }

  /** Completes links to parts of other pages. */
  function linked(article: Markup, own: string): string {
    return `${article}`.replaceAll(/href="#([^"]+)"/g, (link, id: string) => {
      const slug = pageOf(id);
      if (slug === own) return link;
      return slug === '' ? `href="${authUrl}/docs/api#${id}"` : `href="/${slug}#${id}"`;
    });
  }

  return {
    authUrl,
    before: `${before}`,
    after: `${after}`,
    pages: sections.map(({ slug, title, description: about, entries, article }) => ({
      slug,
      title,
      description: about,
      entries: entries.map((entry): Entry & { page?: string } => {
        const page = pageOf(entry.id);
        return page === slug ? entry : { ...entry, page };
      }),
      html: linked(article, slug),
    })),
  };
}

/** Returns the ids in an article, each with the slug of its page. */
function idsIn(article: Markup, slug: string): [id: string, slug: string][] {
  return [...`${article}`.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => [id, slug]);
}

/** The groups of endpoints, a tag of the description each, and the messages. */
function groupsOf(description: Description, authUrl: string): Section[] {
  const calls = callsOf(description);
  const { schemas } = description.components;
  const owners = ownersOf(description, calls);
  return description.tags.map(({ name, description: about }) => {
    const group = { slug: name.toLowerCase().replaceAll(/\W+/g, '-'), title: name };
    if (name === messages) return { ...group, ...messageSection(description, about, authUrl) };
    const operations = calls.filter(({ tags }) => tags.includes(name));
    return {
      ...group,
      description: about,
      entries: operations.map(({ operationId, summary, method, path }) => {
        return { id: operationId, text: summary, call: `${method} ${path}` };
      }),
      article: html`${operations.map((call) => operationOf(call, schemas, owners))}`,
    };
  });
}

/** Pages on what all endpoints share: headers, errors and schemas. */
function sharedOf(description: Description, authUrl: string): Section[] {
  const calls = callsOf(description);
  const { headers, schemas } = description.components;
  const owners = ownersOf(description, calls);
  const all = Object.entries(schemas);
  const described = all.filter(([name]) => !owners.has(name) && !isError(name));
  const requested = requestHeadersOf(calls);
  return [
    {
      slug: 'headers',
      title: 'Headers',
      description: 'Headers of requests and answers.',
      entries: [...requested.keys(), ...Object.keys(headers)].map(entryOf),
      article: headerTables(description, requested),
    },
    {
      slug: 'errors',
      title: 'Errors',
      description: 'Codes of errors, and what they usually mean.',
      entries: [...Object.keys(errors), ...Object.keys(schemas).filter(isError)].map(entryOf),
      article: errorTable(schemas, authUrl),
    },
    {
      slug: 'schemas',
      title: 'Schemas',
      description: 'Objects that several endpoints answer with or take.',
      entries: all
        .map(([name]) => name)
        .filter((name) => !isError(name))
        .map(entryOf),
      article: html`${described.map(([name, schema]) => html`${heading(2, name, name)}${schemaOf(schema)}`)}`,
    },
  ];
}

const entryOf = (name: string): Entry => ({ id: name, text: name });

const isError = (name: string) => ['Error', 'OAuthError'].includes(name);

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

/** Returns the headers of requests with their descriptions. */
function requestHeadersOf(calls: readonly Call[]): Map<string, string> {
  return new Map(
    calls
      .flatMap(({ parameters = [] }) => parameters.filter((each) => each.in === 'header'))
      .map(({ name, description }) => [name, description]),
  );
}

function headerTables({ components }: Description, requested: ReadonlyMap<string, string>): Markup {
  const row = (name: string, text: string, example?: string | number) =>
    html`<tr id="${name}"><td>${code(name)}</td><td>${inline(`${text}.`)}${example !== undefined && html` For example ${code(example)}`}</td></tr>\n`;
  const answered = Object.entries(components.headers);
  return html`<table class="rows fields">
<thead><tr><th scope="col">Request header</th><th scope="col">Description</th></tr></thead>
<tbody>${[...requested].map(([name, text]) => row(name, text))}</tbody>
</table>
<table class="rows fields">
<thead><tr><th scope="col">Answer’s header</th><th scope="col">Description</th></tr></thead>
<tbody>${answered.map(([name, { description, example }]) => row(name, description, example))}</tbody>
</table>`;
}

function errorTable(schemas: Description['components']['schemas'], authUrl: string): Markup {
  const shapes = Object.entries(schemas).filter(([name]) => isError(name));
  const rows = Object.entries(errors).map(([name, [status]]) => {
    const when = occasions[name as ErrorCode] ?? '';
    return html`<tr id="${name}"><td>${status} <a href="${authUrl}/docs/errors#${name}">${code(name)}</a></td><td>${inline(when)}</td></tr>\n`;
  });
  return html`<p>Each code leads to its remedy in the guide to errors. Every endpoint can answer ${joined(everywhere.map(code), ', ')}.</p>
<table class="rows fields">
<thead><tr><th scope="col">Code</th><th scope="col">Usual condition</th></tr></thead>
<tbody>${rows}</tbody>
</table>
${shapes.map(([name, schema]) => html`${heading(2, name, name)}${schemaOf(schema)}`)}`;
}

function licenceSection({ info }: Description, authUrl: string): Markup {
  return html`${heading(2, 'licences', 'Licences')}
<p>Each review has a licence of its own, which its author chose: see <a href="${authUrl}/docs/versions#use-the-data">Use the data</a>. The software of this service is under ${info.license.identifier}. That licence does not hold for the data.</p>`;
}
