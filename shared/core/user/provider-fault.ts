// What fails every sign-in at the identity provider, as far as this process knows.

let fault: string | undefined;

/** Notes a fault that nobody who signs in can cause, as a sentence. Undefined ends it. */
export function noteProvider(sentence?: string): void {
  fault = sentence;
}

/** Returns the sentence for an operator if nobody can sign in. */
export function providerFault(): string | undefined {
  return fault;
}
