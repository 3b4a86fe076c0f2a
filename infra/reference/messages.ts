import { html } from 'hono/html';
import type { Description, Operation } from './description.ts';
import { code, joined, nameOf, parameterTable } from './fields.ts';
import { codeBlock, heading, inline, type Markup } from './markup.ts';

// The messages of webhooks in the reference.

/** Tag of the messages, and the title of their section. */
export const messages = 'Webhooks';

/** Returns the entry of the contents, with a link to each message. */
export function messageContents({ webhooks }: Description) {
  const within = Object.keys(webhooks).map((type) => ({ id: type, text: type }));
  return { id: 'webhooks', text: messages, within };
}

/** Describes the messages: their headers and answers once, and each with an example. */
export function messageSection({ tags, webhooks }: Description, authUrl: string): Markup {
  const operations = Object.entries(webhooks).map(([type, { post }]) => ({ type, ...post }));
  const [{ parameters = [], responses = {} } = {}] = operations;
  const about = tags.find(({ name }) => name === messages)?.description;
  return html`${heading(2, 'webhooks', messages)}
<p>${about && inline(about)} <a href="${authUrl}/docs/webhooks">The guide</a> says how to receive them.</p>
${heading(3, 'webhook-headers', 'Headers of each message')}
${parameterTable(parameters)}
${heading(3, 'webhook-answers', 'Answers of a receiver')}
<ul>${Object.entries(responses).map(
    ([status, { description }]) =>
      html`<li>${status === 'default' ? 'Any other' : code(status)}: ${inline(`${description}.`)}</li>`,
  )}</ul>
${operations.map(sectionOf)}`;
}

function sectionOf({ type, summary, requestBody, responses }: { type: string } & Operation) {
  const [{ schema, example } = { schema: {} }] = Object.values(requestBody?.content ?? {});
  const name = nameOf(schema);
  const { description, content } = responses['2XX'] ?? {};
  const types = Object.keys(content ?? {}).map(code);
  return html`<section>
${heading(3, type, type)}<p>${inline(`${summary}.`)} <a href="#${name}">${name}</a></p>
${types.length > 0 && html`<p>Answer: ${inline(`${description}`)} (${joined(types, ', ')}).</p>`}
<details><summary>Example</summary>
${codeBlock('json', JSON.stringify(example, null, 2))}</details>
</section>
`;
}
