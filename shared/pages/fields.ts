import { html } from 'hono/html';
import type * as v from 'valibot';
import type { Html } from './layout.ts';

/** What is wrong with the fields of a form, by their names, in sentences; under no name what is wrong with all of it. */
export type Faults = Readonly<Record<string, string>>;

/** A form as it was sent, and why it comes back. */
export interface Filled {
  values: Readonly<Record<string, string>>;
  faults: Faults;
}

/** A form that nobody has filled in yet. */
export const blank: Filled = { values: {}, faults: {} };

interface Field {
  name: string;
  /** Prefix of its id, where another form of the page has the same field. */
  prefix?: string;
  label: string;
  type?: 'text' | 'email' | 'url' | 'area';
  /** What stands in it unless something was sent. */
  value?: string;
  hint?: string;
  /** In characters. Browsers count some of them twice. */
  maxlength: number;
  isRequired?: boolean;
  autocomplete?: string;
  /** Set for the one that a page is for. */
  hasFocus?: boolean;
}

/** A field with its label and hint, and beside it what is wrong. The first that is at fault is where one goes on typing. */
export function field(
  { name, prefix = '', label, type = 'text', value = '', hint, hasFocus, ...rest }: Field,
  { values, faults }: Filled = blank,
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
        ? // A line break that it begins with would not count.
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

/** A box to tick before something that cannot be undone. */
export function confirmation(name: string, label: string): Html {
  return html`<div class="check">
    <input type="checkbox" id="${name}" name="${name}" value="yes" required>
    <label for="${name}">${label}</label>
  </div>`;
}

/** Says above a form that comes back that nothing was saved, and why where that is not the matter of one field. */
export function faultOf({ faults }: Filled): Html | '' {
  const [first] = Object.keys(faults);
  if (first === undefined) return '';
  return html`<p class="warning" role="alert">${faults[''] ?? 'Nothing is saved yet: please look at what is marked below.'}</p>`;
}

/** What the issues of a schema for a form are in the words of a page. */
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
