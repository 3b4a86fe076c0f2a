import { html } from 'hono/html';
import { site } from '../../../shared/base/site/site.ts';
import { linkStyle, type Mail, mailPage } from '../../../shared/features/notices/public.ts';

/** A mail with its link, for the page of a laptop. */
export type SignInMail = Mail & { link: string };

/** Splits the eight digits of a code, so that they are easy to type. */
export const spaced = (code: string) => `${code.slice(0, 4)} ${code.slice(4)}`;

/** Marks of browsers in the header User-Agent. Those that name others as well come first. */
const browsers = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['FxiOS', 'Firefox'],
  ['Firefox', 'Firefox'],
  ['CriOS', 'Chrome'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
] as const;

/** Returns when a mail is asked for, which is now, and in which browser, if it is a usual one. */
export function askedIn(agent = ''): string {
  const time = new Date().toUTCString().replace(/:\d\d GMT$/, ' UTC');
  const [, name] = browsers.find(([mark]) => agent.includes(mark)) ?? [];
  return name === undefined ? `on ${time}` : `on ${time}, in ${name}`;
}

/** Returns a mail as text and as HTML. */
export function wordsOf({ link, code, asked }: { link: string; code: string; asked: string }) {
  const about = `Somebody asked to sign in to ${site().name} with this address ${asked}.`;
  const where = 'in the browser where you asked, within 15 minutes';
  const warning = 'If it was not you, delete this mail. Do not pass on the link or the code.';
  const text = `${about}

If it was you, open this link ${where}:

${link}

Or type this code there: ${code}

${warning}
`;
  const button = html`<p><a href="${link}" style="${linkStyle()};font-weight:bold">Sign in to ${site().name}</a></p>`;
  return {
    text,
    html: mailPage(html`<p>${about}</p>
<p>If it was you, press this ${where}:</p>
${button}
<p>Or type this code there: <b>${code}</b></p>
<p>${warning}</p>`),
  };
}
