// The fields of forms, with their hints and errors.
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

interface Field {
  name: string;
  /** Prefix of the id, if another form of the page has the same field. */
  prefix?: string;
  label: string;
  type?: 'text' | 'email' | 'url' | 'area';
  value?: string;
  hint?: string;
  /** In characters. Browsers count some of them twice. */
  maxlength: number;
  /** Lines of an area, if it has more than a few. */
  rows?: number;
  isRequired?: boolean;
  autocomplete?: string;
  hasFocus?: boolean;
  filled?: FormState;
}

/** The field of a public name, without its label. */
export const displayName = {
  name: 'display_name',
  maxlength: 64,
  isRequired: true,
  autocomplete: 'nickname',
};

/** Renders a field with its label, hint and error. The first field with an error gets the focus. */
export function field({ name, prefix = '', label, type = 'text', hint, ...rest }: Field): Html {
  const { values, faults } = rest.filled ?? blank;
  const id = `${prefix}${name}`;
  const fault = faults[name];
  const content = values[name] ?? rest.value ?? '';
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean);
  const attributes = {
    id,
    maxlength: `${rest.maxlength}`,
    rows: rest.rows === undefined ? undefined : `${rest.rows}`,
    // Text of a person, in any language.
    dir: type === 'area' ? 'auto' : undefined,
    autocomplete: rest.autocomplete,
    required: rest.isRequired,
    autofocus: rest.hasFocus || Object.keys(faults)[0] === name,
    'aria-invalid': fault && 'true',
    'aria-describedby': described.join(' ') || undefined,
  };
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${hint && html`<p class="soft" id="${id}-hint">${hint}</p>`}
    ${
      type === 'area'
        ? // HTML ignores a first line break in a textarea.
          html`<textarea name="${name}"${attributeList(attributes)}>${`\n${content}`}</textarea>`
        : html`<input type="${type}" name="${name}" value="${content}"${attributeList(attributes)}>`
    }
    ${fault && html`<p class="fault" id="${id}-fault">${fault}</p>`}
  </div>`;
}

function attributeList(attributes: Record<string, string | boolean | undefined>) {
  return Object.entries(attributes).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    return [value === true ? html` ${name}` : html` ${name}="${value}"`];
  });
}

/** Renders an option of a `select`. */
export function option(value: string, text: string, chosen: string | undefined): Html {
  return html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`;
}

/** Renders a checkbox to tick before an action that cannot be undone. */
export function confirmation(name: string, label: string): Html {
  return html`<div class="check">
    <input type="checkbox" id="${name}" name="${name}" value="yes" required>
    <label for="${name}">${label}</label>
  </div>`;
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
