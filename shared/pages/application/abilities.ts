// Abilities of applications and tokens as a list on a page.
import { html } from 'hono/html';
import type { Scope } from '../../base/routes.ts';
import { type Ability, baseAbility, scopeAbilities } from '../../core/oauth/scopes.ts';
import type { Html } from '../frame/layout.ts';

/** The abilities that scopes give beyond those of `before`, dangerous ones last. */
export function abilitiesOf(scopes: readonly Scope[], before?: readonly Scope[]): Ability[] {
  const added = scopes.filter((scope) => !before?.includes(scope));
  const base = before ? [] : [baseAbility];
  return [...base, ...added.flatMap((scope) => scopeAbilities[scope])].toSorted(
    (a, b) => Number(a.isDangerous ?? false) - Number(b.isDangerous ?? false),
  );
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
