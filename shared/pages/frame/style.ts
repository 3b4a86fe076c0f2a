import { hash } from 'node:crypto';

const schemes = {
  light: `--ink: #1c2230; --soft: #5b6474; --line: #d9dde5; --field: #7a8394;
  --paper: #fff; --ground: #f4f5f8; --accent: #2f55d4; --star: #c26a00; --danger: #b3261e;
  --danger-ground: #fdf0ef; --good: #1c7a3d; --good-ground: #eef8f1; --radius: 10px;
  --serif: ui-serif, Charter, Georgia, serif;`,
  dark: `--ink: #e8ebf2; --soft: #a2abbb; --line: #363d4b;
  --field: #7b869c; --paper: #161a22; --ground: #1f2430; --accent: #8aa4ff; --star: #f5b942;
  --danger: #ff8a80; --danger-ground: #2a1a1c; --good: #7ddb9c; --good-ground: #15251b;`,
};

/** Colours of every page, with the contrasts of WCAG 2.2 AA in both colour schemes. */
export const colours = `
:root { color-scheme: light dark; ${schemes.light} }
@media (prefers-color-scheme: dark) { :root { ${schemes.dark} } }
`;

/** The same colours for a frame that follows the page around it, not the reader's settings. */
export function coloursOf(theme: 'light' | 'dark'): string {
  return `\n:root { color-scheme: ${theme}; ${schemes.light} ${theme === 'dark' ? schemes.dark : ''} }\n`;
}

/** Style of every page. Targets are 24 pixels high. */
export const style = `${colours}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; --width: 42rem; }
body.wide { --width: 64rem; }
a { color: var(--accent); }
main { max-width: var(--width); margin: 0 auto; padding: 0 1rem; }
header, footer { background: var(--ground); padding: 0 max(1rem, 50% - var(--width) / 2 + 1rem); }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 0 1rem; padding-top: .5rem;
  border-bottom: 1px solid var(--line); border-top: 4px solid var(--accent); }
.brand { display: flex; align-items: center; gap: .6rem; min-height: 3rem; margin-right: auto;
  color: inherit; font: 700 1.35rem var(--serif); text-decoration: none; }
.mark { flex: none; }
.who { max-width: 12rem; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; color: var(--soft); }
header form { margin: 0; }
.menus { flex: 1 0 100%; display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1.25rem; }
.menus nav { display: flex; flex-wrap: wrap; gap: 0 1.25rem; }
.menus nav a, .enter { padding: .5rem 0; border-bottom: 3px solid transparent; color: var(--soft);
  text-decoration: none; white-space: nowrap; }
.menus nav a[aria-current] { color: var(--ink); font-weight: 600; border-color: var(--accent); }
.menus nav a:hover { color: var(--ink); border-color: var(--field); }
footer { margin-top: 3rem; padding-top: 1rem; padding-bottom: 2rem; border-top: 1px solid var(--line);
  color: var(--soft); font-size: .9rem; }
footer nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
footer a { display: inline-block; min-height: 1.5rem; color: inherit; }
h1 { font: 700 2rem/1.2 var(--serif); margin: 1.5rem 0 1rem; text-wrap: balance; }
h2 { font-size: 1.15rem; margin: 0 0 .5rem; }
h3 { font-size: 1rem; margin: 0; }
* + h2, * + h3 { margin-top: 1.25rem; }
section { padding: 1.25rem 0; border-top: 1px solid var(--line); }
h1 + section { border-top: 0; padding-top: 0; }
section.end { border-color: var(--danger); }
p, form, details { margin: 0 0 .75rem; }
section ul { margin: 0 0 .75rem; padding-left: 1.25rem; }
section > :last-child, form > :last-child, li > :last-child,
  details > :last-child { margin-bottom: 0; }
li + li { margin-top: .25rem; }
.soft { color: var(--soft); }
.role { display: inline-block; padding: 0 .4rem; border: 1px solid var(--field); border-radius: 4px;
  font: 600 .8rem/1.4 system-ui, sans-serif; text-decoration: none; }
.verbatim { white-space: pre-wrap; }
.review, .verbatim, .clamp { unicode-bidi: isolate; }
.clamp, .cell .review { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
.review { font: 1.1rem/1.6 var(--serif); }
.cell .review { margin: 0; color: var(--soft); font: inherit; }
.stars { width: 5.5rem; height: 1.1rem; vertical-align: -.15em; fill: var(--line); }
.stars svg, .bar { fill: var(--star); }
.big, .by { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .75rem; }
.by { margin: .25rem 0 .35rem; }
.by a { color: inherit; }
.votes { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1rem; margin: .35rem 0 0; font-size: .95rem; }
.votes a { display: inline-block; min-height: 1.5rem; }
.big .stars { width: 9rem; height: 1.8rem; }
.number { font: 700 2.5rem/1 var(--serif); }
.histogram { width: 100%; max-width: 26rem; border-collapse: collapse; }
.histogram th { width: 4.5rem; text-align: start; font-weight: 400; }
.histogram td:last-child { width: 3.5rem; text-align: end; font-variant-numeric: tabular-nums; }
.bar { display: block; width: 100%; height: .75rem; background: var(--ground); border-radius: 3px; }
h1 a { color: inherit; text-decoration-color: var(--field); text-decoration-thickness: 1px; }
ul.row, nav.choice { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; padding: 0; }
.row li { margin: 0; }
nav.choice { margin-bottom: 1rem; }
.choice a[aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
.row a, .choice a, .histogram a { display: inline-block; min-height: 1.5rem; }
@media (min-width: 56rem) {
  .columns { display: grid; grid-template: auto 1fr / 18rem minmax(0, 1fr); gap: 0 3.5rem; }
  .columns > :nth-child(2) { grid-column: 2; grid-row: 1 / 3; border-top: 0; padding-top: 0; } }
table.rows { width: 100%; border-collapse: collapse; margin-bottom: 1rem; }
.rows th, .rows td { padding: .6rem 1rem .6rem 0; border-bottom: 1px solid var(--line); text-align: start;
  vertical-align: top; overflow-wrap: break-word; }
.rows thead th { color: var(--soft); font-weight: 600; font-size: .9rem; }
.rows td:first-child { width: 40%; overflow-wrap: anywhere; }
.choices { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 3rem; }
@media (max-width: 48rem) { .stack, .stack tbody, .stack tr, .stack td { display: block; }
  .stack thead { display: none; } .rows.stack td { width: auto; padding: .1rem 0; border: 0; }
  .stack tr { padding: .75rem 0; border-bottom: 1px solid var(--line); }
  .stack td + td::before { content: attr(data-name) ": "; color: var(--soft); } }
.lead { font: 1.35rem/1.45 var(--serif); }
.numbers { display: flex; flex-wrap: wrap; gap: 1rem 3rem; }
.numbers div { display: flex; flex-direction: column-reverse; }
@media (min-width: 60rem) { .desk { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 1fr); gap: 0 3.5rem; }
  .cards { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 0 2.5rem; }
  .desk > section, .desk > div > section:first-child { border-top: 0; padding-top: 0; } }
h1 + .desk > :first-child > section:first-child { border-top: 0; padding-top: 0; }
section > ol > li + li { margin-top: 1rem; }
.notice, .warning { padding: .75rem 1rem; border-radius: var(--radius); border: 1px solid var(--good);
  background: var(--good-ground); margin-bottom: 1rem; }
.warning { border-color: var(--danger); background: var(--danger-ground); }
:target { scroll-margin-top: 5rem; }
main:has(:target) > .notice { position: sticky; top: .5rem; z-index: 1; }
.warning > :last-child { margin-bottom: 0; }
.tag { color: var(--danger); font-weight: 600; }
ul.plain { list-style: none; padding: 0; }
ul.plain > li + li { border-top: 1px solid var(--line); margin-top: 1rem; padding-top: 1rem; }
.plain h2 a, .plain h3 a { display: inline-block; min-height: 1.5rem; }
summary { display: list-item; min-height: 1.5rem; color: var(--accent); cursor: pointer; }
details[open] > summary { margin-bottom: .5rem; }
label { display: block; font-weight: 600; }
.field { margin-bottom: 1rem; }
.field p { margin: 0; font-size: .9rem; }
.field .fault { margin-top: .4rem; color: var(--danger); font-weight: 600; }
fieldset { border: 0; margin: 0 0 .75rem; padding: 0; }
legend { font-weight: 600; padding: 0; margin-bottom: .5rem; }
.check { display: flex; gap: .6rem; align-items: flex-start; margin-bottom: .75rem; }
.check label { font-weight: 400; }
.check input { flex: none; width: 1.5rem; height: 1.5rem; margin: 0; accent-color: var(--accent); }
.rate, .rate div, .rate label { display: flex; align-items: center; gap: .25rem; font-weight: 400; }
.rate { flex-wrap: wrap; }
.rate div { position: relative; min-height: 2.5rem; }
.rate div:last-child { gap: .5rem; }
.rate input { width: 1.5rem; height: 1.5rem; margin: 0; accent-color: var(--accent); }
.rate svg { width: 2rem; height: 2rem; overflow: visible; fill: none; stroke: var(--field); stroke-width: 1.2; }
@supports selector(:has(*)) {
  .rate div:last-child { margin-inline-start: 1rem; }
  .star input { position: absolute; inset: 0; width: 100%; height: 100%; opacity: 0; cursor: pointer; }
  .star span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .star:is(:has(:checked), :has(~ .star :checked)) svg { fill: var(--star); stroke: var(--star); }
  .star:has(:focus-visible) { outline: 3px solid var(--accent); outline-offset: -1px; border-radius: 6px; } }
input[type=text], input[type=email], input[type=url], select, textarea { display: block; width: 100%;
  margin-top: .25rem; padding: .55rem .65rem; font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--field); border-radius: 6px; }
[aria-invalid=true] { border-color: var(--danger); }
.filters { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); align-items: end; gap: .75rem 1rem; }
textarea { min-height: 6rem; resize: vertical; }
button, .button { display: inline-block; font: inherit; font-weight: 600; padding: .55rem 1.1rem;
  border-radius: 6px; border: 1px solid var(--accent); background: var(--accent); color: var(--paper);
  text-align: center; text-decoration: none; cursor: pointer; }
button.quiet, .button.quiet { background: none; color: var(--accent); }
button.link { background: none; border: 0; padding: 0; min-height: 1.5rem; color: var(--accent);
  font-weight: 400; text-decoration: underline; }
.button.danger, button.danger { background: none; border-color: var(--danger); color: var(--danger); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
h3 + p > .button { margin-top: .5rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; }
.buttons + p { margin-top: .75rem; }
.late { animation: late .6s step-end; }
@media (hover: hover) and (not (any-pointer: coarse)) {
  html:not(:hover) .late { animation: none; pointer-events: none; } }
@keyframes late { from { pointer-events: none; } }
code { font-size: .9em; }
.copy { display: block; padding: .55rem .65rem; border: 1px solid var(--line); border-radius: 6px;
  background: var(--ground); user-select: all; -webkit-user-select: all; }
dl { display: grid; grid-template-columns: minmax(5.5rem, max-content) 1fr; gap: .25rem 1rem; margin: 0 0 .75rem; }
dt { color: var(--soft); }
dd { margin: 0; }
@media (max-width: 30rem) { h1 { font-size: 1.6rem; } dl { gap: .25rem .75rem; } .who { max-width: 9rem; }
  .buttons > *, form > button:not(.link) { width: 100%; }
  .menus { gap: 0; } .menus nav { flex: 1 0 100%; justify-content: space-between; gap: .5rem; }
  .menus nav a { font-size: .95rem; } .menus nav:first-child { justify-content: start; gap: 1.25rem; }
  .menus nav:has(:nth-child(4)) a { font-size: .8rem; } }
article { min-width: 0; }
article > p:first-child { font-size: 1.15rem; color: var(--soft); }
article h2 { margin-top: 2.25rem; font: 700 1.5rem/1.25 var(--serif); }
article h3 { margin: 2rem 0 .5rem; }
article :is(h2, h3) a { color: inherit; text-decoration: none; }
article :is(h2, h3) a:hover { text-decoration: underline; }
article h4 { margin: 1.25rem 0 .5rem; font-size: .9rem; color: var(--soft); }
article pre { margin: 0 0 1rem; padding: .75rem 1rem; overflow-x: auto; border-radius: 6px;
  border: 1px solid var(--line); background: var(--ground); }
article pre:has(.language-json, .language-http, .language-text) { background: none; border-style: dashed; }
.language-sh, .language-ts, .language-python { user-select: all; -webkit-user-select: all; }
article ul, article ol { margin: 0 0 1rem; padding-left: 1.5rem; }
article table { margin-bottom: 1.5rem; }
article td:last-child { overflow-wrap: anywhere; padding-right: 0; }
article h3 code { font-size: 1rem; }
.contents { margin-bottom: 1.5rem; }
.contents a, .fields td:first-child a { display: inline-block; min-height: 1.5rem; }
.fields { table-layout: fixed; }
.fields th:first-child { width: 34%; }
.rows.fields td { overflow-wrap: anywhere; }
.menu { margin-bottom: 1rem; }
.menu ol { list-style: none; margin: 0 0 .75rem; padding: 0; }
.menu ol ol { padding-left: 1rem; font-size: .9rem; }
.menu a { display: inline-block; min-height: 1.5rem; }
.menu a[aria-current] { color: var(--ink); font-weight: 600; text-decoration: none; }
.around { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .75rem 2rem; margin: 3rem 0 1rem; }
@media (min-width: 56rem) { .beside { display: grid; grid-template-columns: 13rem 1fr; gap: 3rem; }
  .menu { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; }
  @supports selector(::details-content) { .menu summary { display: none; }
    .menu details::details-content { content-visibility: visible; } } }
@media print { nav, footer, form, details, .button, .buttons, .around { display: none; }
  header { border-top: 0; } a { color: inherit; } }
`;

/** The source that a content security policy must allow for the style. */
export const styleSource = sourceOf(style);

/** The source that a content security policy must allow for a text within a page. */
export function sourceOf(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`;
}
