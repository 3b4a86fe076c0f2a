// Scopes, and in plain words the abilities that they give.
import type { Scope } from '../../base/routes.ts';

/** A permission in plain words, for pages. */
export interface Ability {
  can: string;
  detail: string;
  /** Set if its use cannot be undone. */
  isDangerous?: true;
}

/** Permission of every connected application, whatever its scopes. */
export const baseAbility: Ability = {
  can: 'Know who you are',
  detail:
    'Your profile and email address, your reviews and drafts, and the applications that you have registered or connected',
};

export const scopeAbilities: Readonly<Record<Scope, readonly Ability[]>> = {
  review: [
    { can: 'Write in your name', detail: 'Publish reviews, and change and delete your reviews' },
  ],
  vote: [{ can: 'Vote in your name', detail: 'Vote on reviews, and report them to moderators' }],
  user: [
    { can: 'Change your profile', detail: 'Your public name and your email address' },
    {
      can: 'Download your data',
      detail: 'Everything stored about you, including your votes and reports',
    },
    {
      can: 'Delete your account',
      detail: 'With everything that you have written, immediately and permanently',
      isDangerous: true,
    },
  ],
};

/** Parses scopes separated by commas or spaces. Returns undefined if one does not exist. */
export function parseScopes(list: string): Scope[] | undefined {
  const requested = [...new Set(list.split(/[ ,]+/).filter((scope) => scope !== ''))];
  const isScope = (text: string): text is Scope => Object.hasOwn(scopeAbilities, text);
  return requested.every(isScope) ? requested : undefined;
}
