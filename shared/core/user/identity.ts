/** Claims of an identity provider about a person. `issuer` and `subject` together never change. */
export interface Identity {
  issuer: string;
  subject: string;
  /** The public name of a new account. Null for a neutral one, until the person chooses. */
  display_name: string | null;
  /** The name at the provider, to propose to the person. Nobody else sees it. */
  proposed_name?: string | undefined;
  /** Null if the provider gives no address. Undefined if it could not be asked. */
  email: string | null | undefined;
  /** True if the provider says that the address is this person's. */
  email_verified?: boolean;
  musicdb_username: string | null;
}
