/** The part of IAM's policy language that an authorizer answers in. */
export interface Policy {
  Statement: readonly {
    Effect: string;
    Action: string | readonly string[];
    Resource: string | readonly string[];
  }[];
}

/** Whether `policy` lets `methodArn` be invoked: an explicit Deny wins, and what no statement names is denied. */
export function isAllowed(policy: Policy, methodArn: string): boolean {
  const effects = policy.Statement.filter(
    ({ Action, Resource }) =>
      [Action].flat().some((action) => matches(action.toLowerCase(), 'execute-api:invoke')) &&
      [Resource].flat().some((resource) => matches(resource, methodArn)),
  ).map(({ Effect }) => Effect);
  return effects.includes('Allow') && !effects.includes('Deny');
}

/** `*` stands for any text, slashes included, and `?` for one character. */
function matches(pattern: string, text: string): boolean {
  const expression = pattern
    .replace(/[\\^$.+()|[\]{}]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${expression}$`, 's').test(text);
}
