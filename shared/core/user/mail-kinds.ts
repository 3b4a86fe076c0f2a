import * as v from 'valibot';

/** Kinds of mails: decisions on own contributions, what waits for moderators, a weekly digest. */
export const mailKinds = ['news', 'desk', 'digest'] as const;
export type MailKind = (typeof mailKinds)[number];

/** Returns the attribute of an account that has the setting of a kind. */
export const mailsName = <K extends MailKind>(kind: K) => `mails_${kind}` as const;

/** Settings for mails, as stored: each has what is usual unless the person has chosen. */
export const StoredMailSettings = v.object(
  v.entriesFromList(mailKinds.map(mailsName), v.optional(v.boolean())),
);
