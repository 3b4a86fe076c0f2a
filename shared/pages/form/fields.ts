// The fields of forms, each with its label, hint and error, and the state of a form.
import { html } from 'hono/html';
import type * as v from 'valibot';
import type { Html } from '../frame/layout.ts';

/** A form as submitted, with its errors. */
export interface FormState {
  values: Readonly<Record<string, string>>;
  /** Sentences by field name. The empty name holds errors of the whole form. */
  faults: Readonly<Record<string, string>>;
}

/** A form before its first submission. */
export const blank: FormState = { values: {}, faults: {} };

/** A field of any kind. */
export interface AnyField {
  name: string;
  /** Prefix of the id, if another form of the page has the same field. */
  prefix?: string;
  label: string;
  hint?: string;
  /** The value before the first submission. */
  value?: string;
  isRequired?: boolean;
  filled?: FormState;
}

interface TextField extends AnyField {
  type?: 'text' | 'email' | 'url' | 'area';
  /** In characters. Browsers count some of them twice. */
  maxlength: number;
  /** Lines of an area, if it has more than a few. */
  rows?: number;
  /** The keyboard of a phone, if it is not that of the type. */
  inputmode?: 'numeric';
  autocomplete?: string;
  hasFocus?: boolean;
}

/** A text field of a form by its name: all but what is filled in. */
export type FieldLook = Omit<TextField, 'name' | 'value' | 'filled'>;

/** The field of a public name, without its label. */
export const displayName = {
  name: 'display_name',
  maxlength: 64,
  isRequired: true,
  autocomplete: 'nickname',
};

/** Renders a text field. */
export function field(look: TextField): Html {
  const { name, type = 'text', maxlength, rows, inputmode, autocomplete, isRequired } = look;
  const { id, content, tie, hint, fault, hasFocus } = fieldParts(look);
  const attributes = attributeList({
    id,
    maxlength: `${maxlength}`,
    rows: rows === undefined ? undefined : `${rows}`,
    // Text of a person, in any language.
    dir: type === 'area' || type === 'text' ? 'auto' : undefined,
    inputmode,
    autocomplete,
    required: isRequired,
    autofocus: hasFocus || look.hasFocus,
    ...tie,
  });
  return html`<div class="field">
    <label for="${id}">${look.label}</label>
    ${hint}
    ${
      type === 'area'
        ? // HTML ignores a first line break in a textarea.
          html`<textarea name="${name}"${attributes}>${`\n${content}`}</textarea>`
        : html`<input type="${type}" name="${name}" value="${content}"${attributes}>`
    }
    ${fault}
  </div>`;
}

/** Renders a text field for each name, with the stored values or those that were sent. */
export function fieldsOf<Name extends string>(
  looks: Readonly<Record<Name, FieldLook>>,
  filled: FormState,
  stored?: Readonly<Record<Name, string>>,
): Html {
  const fields = Object.entries<FieldLook>(looks).map(([name, look]) =>
    field({ ...look, name, value: stored?.[name as Name], filled }),
  );
  return html`${fields}`;
}

/**
 * Everything that fields have in common: the id, the content, the hint and the error. `tie` ties
 * the last two to the control. The first field with an error gets the focus.
 */
export function fieldParts({ name, prefix = '', hint, value = '', filled = blank }: AnyField) {
  const id = `${prefix}${name}`;
  const fault = filled.faults[name];
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean);
  return {
    id,
    content: filled.values[name] ?? value,
    tie: {
      'aria-invalid': fault && 'true',
      'aria-describedby': described.join(' ') || undefined,
    },
    hint: hint && html`<p class="soft" id="${id}-hint">${hint}</p>`,
    fault: fault && html`<p class="fault" id="${id}-fault">${fault}</p>`,
    hasFocus: Object.keys(filled.faults)[0] === name,
  };
}

/** Renders attributes. True is one without a value; undefined and false are none. */
export function attributeList(attributes: Record<string, string | boolean | undefined>): Html[] {
  return Object.entries(attributes).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    return [value === true ? html` ${name}` : html` ${name}="${value}"`];
  });
}

/** Renders the error of a whole form, or a message that nothing was saved. */
export function faultOf({ faults }: FormState): Html | '' {
  if (Object.keys(faults).length === 0) return '';
  return html`<p class="warning" role="alert">${faults[''] ?? 'Nothing was saved. Correct the fields marked below.'}</p>`;
}

/** Turns the issues of a form's schema into sentences for a page. */
export function faultsOf(
  issues: readonly v.BaseIssue<unknown>[],
  form: Readonly<Record<string, string>>,
): FormState['faults'] {
  const faults: Record<string, string> = {};
  for (const issue of issues) {
    const name = String(issue.path?.[0]?.key ?? '');
    faults[name] ??= form[name] ? `It ${issue.message}.` : 'Please fill this in.';
  }
  return faults;
}
