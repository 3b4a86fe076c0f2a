import { html } from 'hono/html';
import { type Ability, baseAbility, scopeAbilities } from '../oauth/scopes.ts';
import type { Scope } from '../routes.ts';
import type { Html } from './layout.ts';

/** What an application may do with these scopes, the dangerous last; nothing of it with those that it has `before`. */
export function abilitiesOf(scopes: readonly Scope[], before?: readonly Scope[]): Ability[] {
  const added = scopes.filter((scope) => !before?.includes(scope));
  const all = [
    ...(before ? [] : [baseAbility]),
    ...added.flatMap((scope) => scopeAbilities[scope]),
  ];
  return all.toSorted((a, b) => Number(a.isDangerous ?? false) - Number(b.isDangerous ?? false));
}

/** A list of them, with weight on what cannot be undone. */
export function abilityList(abilities: readonly Ability[]): Html {
  return html`<ul>
    ${abilities.map(
      ({ can, detail, isDangerous }) =>
        html`<li><strong${isDangerous && html` class="tag"`}>${can}.</strong> ${detail}.</li>`,
    )}
  </ul>`;
}
