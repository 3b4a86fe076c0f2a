// The fields of the forms to write and edit a review, and their schemas.
import { html } from 'hono/html';
import * as v from 'valibot';
import { languages } from '../../review/languages.ts';
import { Rating, ReviewText } from '../../review/written.ts';
import { type FormState, field, option } from '../form/fields.ts';
import { nameOfLanguage } from '../frame/language-names.ts';
import type { Html } from '../frame/layout.ts';
import { counted } from '../frame/words.ts';
import { star } from './review-card.ts';

/** Text and stars of a form, where nothing is an empty field. */
export const contentFields = {
  text: v.pipe(
    v.optional(v.string(), ''),
    v.transform((text) => (text === '' ? null : text)),
    v.nullable(ReviewText),
  ),
  rating: v.pipe(
    v.optional(v.string(), ''),
    v.transform((stars) => (stars === '' ? null : Number(stars))),
    v.nullable(Rating),
  ),
};

/**
 * UTF-16 units that browsers let a person type or paste. A too long text is refused with its
 * length, because a browser would cut it without a word.
 */
const mostTyped = 20_000;

/** Use that each licence allows. */
const licenseWords: Readonly<Record<string, string>> = {
  'CC BY-SA 4.0':
    'Others may use and change it if they name you and share the result under the same licence.',
  'CC BY 4.0': 'Others may use and change it if they name you.',
  'CC BY-NC-SA 4.0': 'Like CC BY-SA 4.0, but nobody may make money with it.',
  'CC0 1.0': 'Others may do anything with it, without naming you.',
  'CC BY-SA 3.0': 'The older version of CC BY-SA 4.0.',
  'CC BY-NC-SA 3.0': 'The older version of CC BY-NC-SA 4.0.',
};

/** The stars as radio buttons. The last one is for a review without stars. */
export function starsField({ values, faults }: FormState, stored: number | null = null): Html {
  const chosen = values.rating ?? `${stored ?? ''}`;
  const fault = faults.rating && html` aria-invalid="true" aria-describedby="rating-fault"`;
  const choice = (rating: string) =>
    html`<input type="radio" id="rating-${rating || 'none'}" name="rating" value="${rating}"${rating === chosen && html` checked`}${fault}>`;
  return html`<fieldset class="field">
    <legend>Stars</legend>
    <div class="rate">
      ${['1', '2', '3', '4', '5'].map(
        (rating) =>
          html`<div class="star">${choice(rating)}<label for="rating-${rating}">${star}<span>${counted(Number(rating), 'star')}</span></label></div>`,
      )}
      <div>${choice('')}<label for="rating-none">No stars</label></div>
    </div>
    ${faults.rating && html`<p class="fault" id="rating-fault">${faults.rating}</p>`}
  </fieldset>`;
}

/** The text, with its limits and the number of its characters. */
export function textField(filled: FormState, stored: string | null = null): Html {
  const text = filled.values.text ?? stored ?? '';
  const length = [...text].length;
  const limits = 'Between 25 and 5000 characters, or no text at all if you give stars.';
  return field({
    name: 'text',
    label: 'Your review',
    type: 'area',
    rows: 12,
    value: text,
    hint: length > 0 ? `${limits} Now it has ${length}.` : limits,
    maxlength: mostTyped,
    filled,
  });
}

const languagesByName = languages
  .map((code) => ({ code, name: nameOfLanguage(code) }))
  .sort((a, b) => (a.name < b.name ? -1 : 1));

/** The language, which nothing is chosen of unless the person has written before. */
export function languageField({ values, faults }: FormState, last: string | undefined): Html {
  const chosen = values.language ?? last;
  const fault =
    faults.language && html` aria-invalid="true" aria-describedby="language-fault" autofocus`;
  return html`<div class="field">
    <label for="language">Language of the text</label>
    <select id="language" name="language" required${fault}>
      <option value="">Choose one</option>
      ${languagesByName.map(({ code, name }) => option(code, name, chosen))}
    </select>
    ${faults.language && html`<p class="fault" id="language-fault">${faults.language}</p>`}
  </div>`;
}

/** The licences, with the last one that the person has chosen. */
export function licenseField({ values, faults }: FormState, last: string | undefined): Html {
  const chosen = values.license_choice ?? last;
  const fault =
    faults.license_choice && html` aria-invalid="true" aria-describedby="license_choice-fault"`;
  return html`<fieldset>
    <legend>Licence</legend>
    <p class="soft">What others may do with your review. Neither language nor licence can be changed later.</p>
    ${Object.entries(licenseWords).map(
      ([id, words], i) => html`<div class="check">
        <input type="radio" id="license-${i}" name="license_choice" value="${id}" required${id === chosen && html` checked`}${fault}>
        <label for="license-${i}"><strong>${id}</strong> <span class="soft">${words}</span></label>
      </div>`,
    )}
    ${faults.license_choice && html`<p class="fault" id="license_choice-fault">${faults.license_choice}</p>`}
  </fieldset>`;
}
