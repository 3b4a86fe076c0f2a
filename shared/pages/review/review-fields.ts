// The fields of the forms to write and edit a review, and their schemas.
import { html } from 'hono/html';
import * as v from 'valibot';
import { languages } from '../../base/languages.ts';
import { site } from '../../base/site/site.ts';
import { longestTyped } from '../../core/http/form.ts';
import { Language, LicenseChoice, type Review } from '../../core/review/review.ts';
import {
  nothingWritten,
  SentWritten,
  type WholeWritten,
  type WrittenName,
  writtenNames,
} from '../../core/review/written.ts';
import type { User } from '../../core/user/user.ts';
import { type Choice, optionGroup, radios, select } from '../form/choices.ts';
import { attributeList, type FormState, field, fieldParts } from '../form/fields.ts';
import { nameOfLanguage } from '../frame/language-names.ts';
import type { Html, Visitor } from '../frame/layout.ts';
import { namePageUrl, toAccount } from '../frame/next-steps.ts';
import { linkToRules } from '../frame/own-pages.ts';
import { star } from '../frame/stars.ts';
import { counted } from '../frame/words.ts';

/** A field of a form, in which no text is null, and how the rest is read. */
function Typed<T extends v.GenericSchema>(
  schema: T,
  read: (text: string) => unknown = (text) => text,
) {
  return v.pipe(
    v.optional(v.string(), ''),
    v.transform((text): unknown => (text === '' ? null : read(text))),
    schema,
  );
}

const sent = SentWritten.entries;

/** The written fields of a form. */
export const typedFields = {
  text: Typed(sent.text),
  rating: Typed(sent.rating, Number),
} satisfies Record<WrittenName, v.GenericSchema>;

/** The fields of a new review. */
export const newReviewEntries = {
  ...typedFields,
  language: Language,
  license_choice: LicenseChoice,
};

/** Returns the written fields as a form sends them. */
export function typedAs(written: WholeWritten): Record<WrittenName, string> {
  const entries = writtenNames.map((name) => [name, `${written[name] ?? ''}`]);
  return Object.fromEntries(entries);
}

/** The written fields in the order of the form, each with its content before it is sent. */
const looks: Readonly<Record<WrittenName, (filled: FormState, content: string) => Html>> = {
  rating: starsField,
  text: textField,
};

/** Renders the written fields, as sent or else as stored. */
export function writtenFields(filled: FormState, stored: WholeWritten = nothingWritten): Html {
  const typed = typedAs(stored);
  const names = Object.keys(looks) as WrittenName[];
  return html`${names.map((name) => looks[name](filled, filled.values[name] ?? typed[name]))}`;
}

/** Renders all fields of a new review. Proposes language and licence of the person's last one. */
export function newReviewFields(
  filled: FormState,
  { languages }: Visitor,
  last: Review | undefined,
): Html {
  return html`${writtenFields(filled)}${termsFields(filled, { languages }, last)}`;
}

/** Renders language and licence, as of the person's last review. */
export function termsFields(
  filled: FormState,
  { languages }: Pick<Visitor, 'languages'>,
  last: Review | undefined,
): Html {
  return html`${languageField(filled, last?.language ?? site().language, languages)}
    ${licenseField(filled, last?.license ?? site().license ?? usualLicense)}
    ${linkToRules({ opensTab: true })}`;
}

/** The stars as radio buttons. The last one is for a review without stars. */
function starsField(filled: FormState, chosen: string): Html {
  const { tie, fault } = fieldParts({ name: 'rating', label: '', filled });
  const choice = (rating: string) => {
    const attributes = attributeList({
      id: `rating-${rating || 'none'}`,
      name: 'rating',
      value: rating,
      checked: rating === chosen,
      ...tie,
    });
    return html`<input type="radio"${attributes}>`;
  };
  return html`<fieldset class="field">
    <legend>Stars</legend>
    <div class="rate">
      ${['1', '2', '3', '4', '5'].map(
        (rating) =>
          html`<div class="star">${choice(rating)}<label for="rating-${rating}">${star}<span>${counted(Number(rating), 'star')}</span></label></div>`,
      )}
      <div>${choice('')}<label for="rating-none">No stars</label></div>
    </div>
    ${fault}
  </fieldset>`;
}

/** The text, with its limits and the number of its characters. */
function textField(filled: FormState, text: string): Html {
  const length = [...text].length;
  const limits = 'Between 25 and 5000 characters, or no text at all if you give stars.';
  return field({
    name: 'text',
    label: 'Your review',
    type: 'area',
    rows: 12,
    value: text,
    hint: length > 0 ? `${limits} Now it has ${length}.` : limits,
    // A browser would cut a longer text without a word. Up to here it is refused with its length.
    maxlength: longestTyped,
    filled,
  });
}

const languagesByName = languages
  .map((code) => [code, nameOfLanguage(code)] as const)
  .sort(([, a], [, b]) => (a < b ? -1 : 1));

/**
 * The language. Those that the browser asks for stand first. Without a `proposal` the first of them
 * is chosen, if any.
 */
function languageField(
  filled: FormState,
  proposal: string | undefined,
  accepted: readonly string[],
): Html {
  const own = accepted.map((code): Choice => [code, nameOfLanguage(code)]);
  const all = languagesByName.filter(([code]) => !accepted.includes(code));
  return select({
    name: 'language',
    label: 'Language of the text',
    none: 'Choose one',
    options:
      own.length === 0
        ? all
        : [
            (chosen) => optionGroup('Of your browser', own, chosen),
            (chosen) => optionGroup('All others', all, chosen),
          ],
    value: proposal ?? accepted[0],
    isRequired: true,
    filled,
  });
}

/** The licence that is proposed to somebody who has written nothing, unless the site has one. */
const usualLicense = 'CC BY-SA 4.0';

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

/** The licences. A proposed one is shown alone, with the others folded behind it. */
function licenseField(filled: FormState, proposal: string | undefined): Html {
  const chosen = filled.values.license_choice ?? proposal;
  const words = chosen && licenseWords[chosen];
  if (!words || filled.faults.license_choice) return licenseChoices(filled, proposal);
  return html`<p class="choice-made">Licence: <strong>${chosen}</strong>. <span class="soft">${words} Neither language nor licence can be changed later.</span></p>
    <details class="field">
      <summary>Choose another licence</summary>
      ${licenseChoices(filled, proposal)}
    </details>`;
}

function licenseChoices(filled: FormState, proposal: string | undefined): Html {
  return radios({
    name: 'license_choice',
    label: 'Licence',
    hint: 'What others may do with your review. Neither language nor licence can be changed later.',
    choices: Object.entries(licenseWords).map(([id, words]) => [
      id,
      html`<strong>${id}</strong> <span class="soft">${words}</span>`,
    ]),
    value: proposal,
    isRequired: true,
    filled,
  });
}

/**
 * The name under which a form publishes, the way to choose another, and whether moderators look
 * first. The way opens a tab, so that it leaves what the form has.
 */
export function publishedAs({ display_name }: User, isHeld: boolean): Html {
  const nameUrl = namePageUrl(toAccount().href, 'name');
  return html`<p class="soft">Published as <bdi>${display_name}</bdi>. <a href="${nameUrl}" target="_blank" rel="noreferrer">Change the name in a new tab</a></p>
    ${isHeld && html`<p class="soft">You are new here: a moderator looks at your review before others see it.</p>`}`;
}
