import { html } from 'hono/html';
import type * as v from 'valibot';
import type { Html } from './layout.ts';

/** Errors of a form by field name, as sentences. The empty name holds errors of the whole form. */
export type Faults = Readonly<Record<string, string>>;

/** A form as submitted, with its errors. */
export interface FormState {
  values: Readonly<Record<string, string>>;
  faults: Faults;
}

/** A form before its first submission. */
export const blank: FormState = { values: {}, faults: {} };

interface Field {
  name: string;
  /** Prefix of the id, if another form of the page has the same field. */
  prefix?: string;
  label: string;
  type?: 'text' | 'email' | 'url' | 'area';
  /** Initial value, unless something was submitted. */
  value?: string;
  hint?: string;
  /** In characters. Browsers count some of them twice. */
  maxlength: number;
  isRequired?: boolean;
  autocomplete?: string;
  /** Set for the main field of a page. */
  hasFocus?: boolean;
}

/** Renders a field with its label, hint and error. The first field with an error gets the focus. */
export function field(
  { name, prefix = '', label, type = 'text', value = '', hint, hasFocus, ...rest }: Field,
  { values, faults }: FormState = blank,
): Html {
  const id = `${prefix}${name}`;
  const fault = faults[name];
  const content = values[name] ?? value;
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean);
  const attributes = {
    id,
    maxlength: `${rest.maxlength}`,
    autocomplete: rest.autocomplete,
    required: rest.isRequired,
    autofocus: hasFocus || Object.keys(faults)[0] === name,
    'aria-invalid': fault && 'true',
    'aria-describedby': described.join(' ') || undefined,
  };
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${hint && html`<p class="soft" id="${id}-hint">${hint}</p>`}
    ${
      type === 'area'
        ? // HTML ignores a first line break in a textarea.
          html`<textarea name="${name}"${written(attributes)}>${`\n${content}`}</textarea>`
        : html`<input type="${type}" name="${name}" value="${content}"${written(attributes)}>`
    }
    ${fault && html`<p class="fault" id="${id}-fault">${fault}</p>`}
  </div>`;
}

function written(attributes: Record<string, string | boolean | undefined>): Html[] {
  return Object.entries(attributes).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    return [value === true ? html` ${name}` : html` ${name}="${value}"`];
  });
}

/** Renders a checkbox to tick before an action that cannot be undone. */
export function confirmation(name: string, label: string): Html {
  return html`<div class="check">
    <input type="checkbox" id="${name}" name="${name}" value="yes" required>
    <label for="${name}">${label}</label>
  </div>`;
}

/**
 * Renders a message above a form with errors: nothing was saved, or the error of the whole form.
 */
export function faultOf({ faults }: FormState): Html | '' {
  const [first] = Object.keys(faults);
  if (first === undefined) return '';
  return html`<p class="warning" role="alert">${faults[''] ?? 'Nothing was saved. Correct the fields marked below.'}</p>`;
}

/** Turns the issues of a form's schema into sentences for a page. */
export function faultsOf(
  issues: readonly v.BaseIssue<unknown>[],
  form: Readonly<Record<string, string>>,
): Faults {
  const faults: Record<string, string> = {};
  for (const issue of issues) {
    const name = String(issue.path?.[0]?.key ?? '');
    faults[name] ??= form[name] ? `It ${issue.message}.` : 'Please fill this in.';
  }
  return faults;
}
