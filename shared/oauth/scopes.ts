import type { Scope } from '../routes.ts';

/** What every application that somebody connects may do, whatever its scopes; in the words of the pages. */
export const baseDescription =
  'Read your profile with your email address, your reviews with your drafts, and which applications you have registered or connected';

/** What each scope lets an application do, in the words of the consent page. */
export const scopeDescriptions: Readonly<Record<Scope, string>> = {
  review: 'Publish, change and delete reviews in your name',
  vote: 'Vote on reviews and report spam in your name',
  user: 'Change your profile and delete your account',
};

/** Reads a list of scopes separated by commas or spaces; undefined when one of them does not exist. */
export function parseScopes(list: string): Scope[] | undefined {
  const asked = [...new Set(list.split(/[ ,]+/).filter((scope) => scope !== ''))];
  return asked.every(isScope) ? asked : undefined;
}

function isScope(text: string): text is Scope {
  return Object.hasOwn(scopeDescriptions, text);
}
