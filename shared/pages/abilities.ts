import { html } from 'hono/html';
import { type Ability, baseAbility, scopeAbilities } from '../oauth/scopes.ts';
import type { Scope } from '../routes.ts';
import type { Html } from './layout.ts';

/**
 * Returns the abilities that these scopes give an application, dangerous ones last. Leaves out the
 * abilities of the scopes that it has had `before`.
 */
export function abilitiesOf(scopes: readonly Scope[], before?: readonly Scope[]): Ability[] {
  const added = scopes.filter((scope) => !before?.includes(scope));
  const all = [
    ...(before ? [] : [baseAbility]),
    ...added.flatMap((scope) => scopeAbilities[scope]),
  ];
  return all.toSorted((a, b) => Number(a.isDangerous ?? false) - Number(b.isDangerous ?? false));
}

/** Lists abilities and highlights those that cannot be undone. */
export function abilityList(abilities: readonly Ability[]): Html {
  return html`<ul>
    ${abilities.map(
      ({ can, detail, isDangerous }) =>
        html`<li><strong${isDangerous && html` class="tag"`}>${can}.</strong> ${detail}.</li>`,
    )}
  </ul>`;
}
