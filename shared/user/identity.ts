/** Claims of an identity provider about a person. `issuer` and `subject` together never change. */
export interface Identity {
  issuer: string;
  subject: string;
  /** A proposal that the person can change. */
  display_name: string;
  email: string | null;
  musicdb_username: string | null;
}
