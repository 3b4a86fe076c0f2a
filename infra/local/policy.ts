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

/**
 * `*` stands for any text, slashes included, and `?` for one character. A mismatch goes back to the last `*` and no further: a regular
 * expression would try all of them, for ages where a path has many.
 */
function matches(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let tried = 0;
  for (let i = 0; i < text.length; ) {
    if (pattern[at] === '*') {
      star = at++;
      tried = i;
    } else if (pattern[at] === '?' || pattern[at] === text[i]) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++tried;
    } else {
      return false;
    }
  }
  return /^\**$/.test(pattern.slice(at));
}
