/**
 * Mails that sign people in, since the start. A mail that is held back was asked for beyond a
 * limit. One that failed was not taken in several attempts.
 */
export const mailCounts = { asked: 0, sent: 0, failed: 0, held_back: 0 };
