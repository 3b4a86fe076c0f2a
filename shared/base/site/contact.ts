/**
 * Reads an e-mail address, or a URL of RFC 9116 section 2.5.3, as a URI. `name` is the setting.
 * Throws a sentence for the operator.
 */
export function readContact(name: string, contact: string): string {
  const url = /^[^\s:/@]+@[^\s@]+$/.test(contact) ? `mailto:${contact}` : contact;
  if (/^(https:\/\/|mailto:|tel:)[\w.~:/?@%&=+,-]+$/.test(url)) return url;
  throw new Error(
    `${name} ${contact} is not a contact: set it to an e-mail address or URL, such as security@example.org or https://example.org/security`,
  );
}
