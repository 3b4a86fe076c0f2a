// Fields of forms that offer a choice.
import { html } from 'hono/html';
import type { Html } from '../frame/layout.ts';
import { type AnyField, attributeList, fieldParts } from './fields.ts';

/** A value to choose, and its words. */
export type Choice = readonly [value: string, words: Html | string];

interface SelectField extends AnyField {
  /** The options, or functions of the chosen value that render groups of them. */
  options: readonly (Choice | ((chosen: string) => Html | ''))[];
  /** Words for no choice. Without them, the first option is chosen. */
  none?: string;
}

/** Renders a list to choose one option from. */
export function select({ options, none, ...look }: SelectField): Html {
  const { id, content, tie, hint, fault, hasFocus } = fieldParts(look);
  const attributes = attributeList({
    id,
    name: look.name,
    // Without an empty option there is always a choice (HTML, the select element).
    required: look.isRequired && none !== undefined,
    autofocus: hasFocus,
    ...tie,
  });
  return html`<div class="field">
    <label for="${id}">${look.label}</label>
    ${hint}
    <select${attributes}>
      ${none !== undefined && option(['', none], content)}
      ${options.map((each) => (typeof each === 'function' ? each(content) : option(each, content)))}
    </select>
    ${fault}
  </div>`;
}

/** Renders an option of a `select`. */
export function option([value, words]: Choice, chosen: string | undefined): Html {
  return html`<option value="${value}"${value !== '' && value === chosen && html` selected`}>${words}</option>`;
}

/** Renders a group of options. */
export function optionGroup(label: string, choices: readonly Choice[], chosen: string): Html {
  return html`<optgroup label="${label}">${choices.map((each) => option(each, chosen))}</optgroup>`;
}

/** Renders radio buttons. Their ids begin with the name. */
export function radios({ choices, ...look }: AnyField & { choices: readonly Choice[] }): Html {
  // Tied to each button, a hint would be read with each.
  const { id, content, tie, fault, hasFocus } = fieldParts({ ...look, hint: undefined });
  return html`<fieldset class="field">
    <legend>${look.label}</legend>
    ${look.hint && html`<p class="soft">${look.hint}</p>`}
    ${choices.map(([value, words], i) => {
      const attributes = attributeList({
        id: `${id}-${i}`,
        name: look.name,
        value,
        required: look.isRequired,
        checked: value === content,
        autofocus: hasFocus && i === 0,
        ...tie,
      });
      return html`<div class="check">
        <input type="radio"${attributes}>
        <label for="${id}-${i}">${words}</label>
      </div>`;
    })}
    ${fault}
  </fieldset>`;
}

/** Renders a checkbox, which sends `yes`. */
export function checkbox({
  name,
  words,
  isTicked = false,
  isRequired = false,
}: {
  name: string;
  words: Html | string;
  isTicked?: boolean;
  isRequired?: boolean;
}): Html {
  const attributes = attributeList({
    id: name,
    name,
    value: 'yes',
    required: isRequired,
    checked: isTicked,
  });
  return html`<div class="check">
    <input type="checkbox"${attributes}>
    <label for="${name}">${words}</label>
  </div>`;
}

/** Renders a checkbox to tick before an action that cannot be undone. */
export function confirmation(name: string, words: string): Html {
  return checkbox({ name, words, isRequired: true });
}
