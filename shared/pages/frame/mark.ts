// The mark of the service: a star in a speech bubble.
import { raw } from 'hono/html';

/** A star in a speech bubble, on a field of 32 by 32. */
const bubble = 'M6 2h20a5 5 0 0 1 5 5v13a5 5 0 0 1-5 5H16l-8 6v-6H6a5 5 0 0 1-5-5V7a5 5 0 0 1 5-5z';
const star =
  'M16 6.4L17.8 11.2L22.8 11.4L18.9 14.5L20.2 19.4L16 16.6L11.8 19.4L13.1 14.5L9.2 11.4L14.2 11.2z';

/** The mark beside the name, in the colours of the page. */
export const mark = raw(
  `<svg class="mark" viewBox="0 0 32 32" width="36" height="36" aria-hidden="true"><path fill="var(--accent)" d="${bubble}"/><path fill="var(--paper)" d="${star}"/></svg>`,
);

/** Mark for the browser tab, as SVG. */
export const iconImage = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#2f55d4" d="${bubble}"/><path fill="#fff" d="${star}"/></svg>`;

/** The mark inline, because /favicon.ico may belong to another service. */
export const icon = `data:image/svg+xml,${encodeURIComponent(iconImage)}`;
