// The form to write a review, as a browser shows and sends it.
import { randomUUID } from 'node:crypto';
import { routeOf } from './routes.ts';
import { ask, requestPage } from './visit.ts';
import { type Person, text } from './world.ts';

const route = routeOf('publish-review');

/** The header that browsers send with a form of our own pages. */
export const ownForm = { 'Sec-Fetch-Site': 'same-origin' };

/** An entity that nobody has reviewed, as the query of the form. */
export const newEntity = () => ({ entity_id: randomUUID(), entity_type: 'release_group' });

/** The form filled in. */
export const filledForm = (fields: Record<string, string> = {}) => ({
  text,
  rating: '4',
  language: 'de',
  license_choice: 'CC BY 4.0',
  name: 'Blue',
  ...fields,
});

/** Asks for the form. */
export function showForm(user: Person, query: Record<string, string>) {
  return ask('show-review-form', user, { query });
}

/** Sends the form as somebody who is signed in. */
export function publishForm(
  user: Person,
  query: Record<string, string>,
  form: Record<string, string>,
) {
  return ask('publish-review', user, { query, form });
}

/** Sends the form with these headers and this token, as a browser does. */
export async function sendForm(
  query: Record<string, string>,
  form: Record<string, string>,
  headers: Record<string, string>,
) {
  const answer = await requestPage(route, { query, form, headers });
  return { ...answer, html: `${answer.body}`, shown: { html: `${answer.body}` } as never };
}

/** The value of the chosen radio button. */
export const chosenIn = (html: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"[^>]* checked`).exec(html)?.[1];

/** The chosen language. */
export const languageIn = (html: string) => /<option value="(\w*)" selected/.exec(html)?.[1];
