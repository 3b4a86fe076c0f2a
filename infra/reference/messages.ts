import { html } from 'hono/html';
import type { Description, Operation } from './description.ts';
import { code, joined, nameOf, parameterTable } from './fields.ts';
import { codeBlock, heading, inline } from './markup.ts';

// The messages of webhooks in the reference.

/** Tag of the messages, and the title of their section. */
export const messages = 'Webhooks';

/** Describes the messages: their headers and answers once, and each with an example. */
export function messageSection({ webhooks }: Description, about: string, authUrl: string) {
  const operations = Object.entries(webhooks).map(([type, { post }]) => ({ type, ...post }));
  const [{ parameters = [], responses = {} } = {}] = operations;
  const headers = { id: 'webhook-headers', text: 'Headers of each message' };
  const answers = { id: 'webhook-answers', text: 'Answers of a receiver' };
  return {
    description: about,
    entries: [headers, answers, ...operations.map(({ type }) => ({ id: type, text: type }))],
    article: html`<p><a href="${authUrl}/docs/webhooks">The guide</a> says how to receive them.</p>
${heading(2, headers.id, headers.text)}
${parameterTable(parameters)}
${heading(2, answers.id, answers.text)}
<ul>${Object.entries(responses).map(
      ([status, { description }]) =>
        html`<li>${status === 'default' ? 'Any other' : code(status)}: ${inline(`${description}.`)}</li>`,
    )}</ul>
${operations.map(sectionOf)}`,
  };
}

function sectionOf({ type, summary, requestBody, responses }: { type: string } & Operation) {
  const [{ schema, example } = { schema: {} }] = Object.values(requestBody?.content ?? {});
  const name = nameOf(schema);
  const { description, content } = responses['2XX'] ?? {};
  const types = Object.keys(content ?? {}).map(code);
  return html`<section>
${heading(2, type, type)}<p>${inline(`${summary}.`)} <a href="#${name}">${name}</a></p>
${types.length > 0 && html`<p>Answer: ${inline(`${description}`)} (${joined(types, ', ')}).</p>`}
<details><summary>Example</summary>
${codeBlock('json', JSON.stringify(example, null, 2))}</details>
</section>
`;
}
