/** A finding of another tool, and why nothing is done about it. */
interface Dismissed {
  tool: 'Schemathesis' | 'Nu HTML checker';
  /** Matches what the tool says. */
  says: RegExp;
  reason: string;
}

export const dismissed: readonly Dismissed[] = [
  {
    tool: 'Schemathesis',
    says: /rejected.*(cursor|since) must be/s,
    reason:
      'A cursor is opaque, and comes from an earlier answer. No schema tells one from a text.',
  },
  {
    tool: 'Schemathesis',
    says: /rejected.*entity_id must be an entity that you have not reviewed yet/s,
    reason: 'A second review of an entity is refused, also if it is the example of the document.',
  },
  {
    tool: 'Schemathesis',
    says: /violating request accepted.*`review_id` in path/s,
    reason: 'The run puts the id of a real review in the place of the wrong one that was made up.',
  },
  {
    tool: 'Schemathesis',
    says: /violating request accepted.*in body - incorrect type.*-d null [^\n]*\/report$/ms,
    reason: 'A report needs no body, and null is none.',
  },
  {
    tool: 'Schemathesis',
    says: /rejected.*'If-Match: 0'/s,
    reason: 'The text 0 does not match the pattern. Schemathesis makes it for the shortest length.',
  },
  {
    tool: 'Schemathesis',
    says: /rejected.*must be sent only once/s,
    reason: 'A form that repeats a field is refused (RFC 6749 section 3.2). No schema says so.',
  },
  {
    tool: 'Schemathesis',
    says: /rejected.*email must be one email address/s,
    reason: 'Which texts are addresses is said by RFC 5321 and DNS, and by no pattern of a schema.',
  },
  {
    tool: 'Schemathesis',
    says: /rejected.*display_name must not contain an address/s,
    reason: 'A name may be no host, which a list of top-level domains tells.',
  },
  {
    tool: 'Nu HTML checker',
    says: /CSS: Parse Error\..*(der-radius:6px\}\}input\[type=tex|bility:visible\}\}\}\.chip\{display)$/s,
    reason: 'Blocks `@supports selector()` end there, which its parser does not know.',
  },
  {
    tool: 'Nu HTML checker',
    says: /CSS: Unknown pseudo-element or pseudo-class “::details-content”\..*\.fold::details-content\{conte/s,
    reason:
      'CSS Pseudo-Elements Level 4 has it, and its parser does not. A browser without it leaves out this rule alone.',
  },
  {
    tool: 'Nu HTML checker',
    says: /^info warning: (Section|Article) lacks heading\./,
    reason:
      'The heading of the page stands before its first part. A part without a name has no role for a screen reader.',
  },
];

/** Returns what a tool says, without what is dismissed. */
export function open(tool: Dismissed['tool'], said: readonly string[]): string[] {
  const own = dismissed.filter((each) => each.tool === tool);
  return said.filter((finding) => !own.some(({ says }) => says.test(finding)));
}
