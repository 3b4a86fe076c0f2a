import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import { authUrl } from '../auth-url.ts';

/** Markup in which every inserted value has been escaped. */
export type Html = ReturnType<typeof html>;

const css = `
:root { color-scheme: light dark; --ink: #1c2230; --soft: #5b6474; --line: #d9dde5; --paper: #fff; --ground: #f4f5f8;
  --accent: #2f55d4; --danger: #b3261e; --radius: 10px; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf2; --soft: #a2abbb; --line: #363d4b; --paper: #1b1f28;
  --ground: #12151c; --accent: #8aa4ff; --danger: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--accent); }
header, main { max-width: 40rem; margin: 0 auto; padding: 0 1rem; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: center; padding-top: 1rem; padding-bottom: 1rem; }
header strong { margin-right: auto; }
header form { margin: 0; }
section { background: var(--paper); border: 1px solid var(--line); border-radius: var(--radius); padding: 1.25rem; margin-bottom: 1rem; }
h1 { font-size: 1.4rem; line-height: 1.25; margin: .5rem 0 1rem; }
h2 { font-size: 1.05rem; margin: 0 0 .5rem; }
p { margin: 0 0 .75rem; }
.soft { color: var(--soft); }
.clamp { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
ul.plain { list-style: none; margin: 0; padding: 0; }
section > :last-child { margin-bottom: 0; }
section ul { margin: 0 0 .75rem; }
ul.plain > li + li { border-top: 1px solid var(--line); margin-top: 1rem; padding-top: 1rem; }
label { display: block; font-weight: 600; margin-bottom: .75rem; }
label.check { font-weight: 400; }
input[type=text], input[type=email], input[type=url], textarea { display: block; width: 100%; margin-top: .25rem; padding: .55rem .65rem;
  font: inherit; font-weight: 400; color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: 6px; }
textarea { min-height: 5rem; resize: vertical; }
button { font: inherit; font-weight: 600; padding: .55rem 1.1rem; border-radius: 6px; border: 1px solid var(--accent);
  background: var(--accent); color: var(--paper); cursor: pointer; }
button.quiet { background: none; color: var(--accent); }
button.link { background: none; border: 0; padding: 0; color: var(--accent); font-weight: 400; text-decoration: underline; }
button.danger { background: none; border-color: var(--danger); color: var(--danger); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; margin: 0 0 .75rem; }
dt { color: var(--soft); }
dd { margin: 0; }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } .buttons button { width: 100%; } }
`;

/** The source that a content security policy must allow for the style above. */
export function styleSource(): string {
  return `'sha256-${createHash('sha256').update(css).digest('base64')}'`;
}

/** The hidden field that shows a form to be ours. */
export function csrfField(csrf: string): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}">`;
}

/** A whole page, with a menu for who is signed in. The browser goes on to `next` at once. */
export function layout(title: string, content: Html, csrf?: string, next?: string): Html {
  const at = authUrl();
  const menu =
    csrf &&
    html`<a href="${at}/account">Account</a>
      <a href="${at}/account/applications">Applications</a>
      <a href="${at}/account/connections">Connected applications</a>
      <form method="post" action="${at}/account/sign-out">
        ${csrfField(csrf)}<button class="link">Sign out</button>
      </form>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${next && html`<meta http-equiv="refresh" content="0; url=${next}">`}
<title>${title} · Reviews</title>
<style>${raw(css)}</style>
</head>
<body>
<header><strong>Reviews</strong>${menu || ''}</header>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>`;
}
