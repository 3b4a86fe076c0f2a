// What keeps the mail server from taking mails at all, as far as this process knows.

/** Failures without a mail taken between them, from which on it is a fault. */
const fewest = 2;

let failures = 0;
let fault: { cause: string; isOfSender: boolean } | undefined;

/** Notes that the server took a mail, or refused one as it may refuse any. */
export function noteMailTaken(): void {
  failures = 0;
  fault = undefined;
}

/** Notes a failure that no address causes. One alone may be a restart of the server. */
export function noteMailFailed(cause: string, { isOfSender = false } = {}): void {
  failures += 1;
  if (failures >= fewest) fault = { cause, isOfSender };
}

/**
 * Notes a connection that was only tried, with the cause if it failed. One that works is no proof
 * of a sender that the server takes.
 */
export function noteMailServerTried(cause?: string): void {
  if (cause !== undefined) fault = { cause, isOfSender: false };
  else if (!fault?.isOfSender) noteMailTaken();
}

/** Returns a sentence for an operator if the server takes no mails. */
export function mailFault(): string | undefined {
  return fault && `The mail server takes no mails: ${fault.cause}`;
}
