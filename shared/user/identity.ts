/** Claims of an identity provider about a person. `issuer` and `subject` together never change. */
export interface Identity {
  issuer: string;
  subject: string;
  /** A proposal that the person can change. */
  display_name: string;
  email: string | null;
  /** True if the provider says that the address is this person's. */
  email_verified?: boolean;
  musicdb_username: string | null;
}
