// A page for people: its parts, which the frame puts together.
import { html } from 'hono/html';
import type { User } from '../../core/user/user.ts';

/** Markup with all inserted values escaped. */
export type Html = ReturnType<typeof html>;

/** The signed-in person. `csrf` goes into every form, and `here` is the address of the page. */
export interface Visitor {
  user: User;
  csrf: string;
  here: string;
  /** Languages that the browser asks for, the best first. */
  languages: readonly string[];
  /** Number of what waits for a decision, for moderators. */
  waiting?: number;
}

/** A page for people. */
export interface Page {
  title: string;
  /** Heading with markup, if it differs from the title. */
  heading?: Html;
  /** The head of a page about one thing or person, with its `h1`. Otherwise that stands alone. */
  top?: Html;
  content: Html;
  /** For search engines and for previews of links. */
  description?: string;
  /** Address outside the service to open next. The form policy forbids to redirect a form there. */
  next?: string;
  /** Set for tables and pages with a column beside the text. */
  isWide?: boolean;
  /** Set for a page with a form for a review, or its own way there: its header has no button. */
  hasWriting?: boolean;
  /** More for the head: alternate formats, data for search engines. */
  head?: Html;
  status?: number;
  cookies?: readonly string[];
  headers?: Readonly<Record<string, string>>;
  /**
   * Set for a decision whose answer may redirect to a client. Leaves out the menu, so that nobody
   * leaves by mistake, and the form policy, because it also holds for redirects.
   */
  isDecision?: boolean;
  /** The search in the field of the header: set for the results of a search. */
  search?: { text: string; type?: string | undefined };
  /** A link to the page that also shows what was just saved, for the notice. */
  shownAt?: Html;
  /** Address of the page, without parameters that it does not read. */
  here?: string;
  /** Address to sign in and return to the page, if its reader is known to be signed out. */
  signIn?: string;
  /** Set at the end of a session. Leaves out the menu and asks for nothing. */
  isLast?: boolean;
}

/** The hidden fields of a form: its CSRF token, and others that have a value. */
export function csrfField(
  csrf: string,
  others: Readonly<Record<string, string | number | undefined>> = {},
): Html {
  const fields = Object.entries({ csrf, ...others }).map(
    ([name, value]) =>
      value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`${fields}`;
}
