// Letters: what a mail says, as text and as plain HTML in the name and colour of the site.
import { html } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import { site } from '../../base/site/site.ts';
import { withoutControls } from '../../base/without-controls.ts';
import type { MailKind } from '../../core/user/mail-kinds.ts';
import type { Html } from '../../pages/frame/layout.ts';
import { mailWords } from './mail-words.ts';
import type { Mail } from './mailer.ts';

/** The content of a mail. The subject names nothing that people write. */
export interface Letter {
  subject: string;
  lines: readonly Line[];
}

/** A sentence, and the page that says more. */
export interface Line {
  text: string;
  url: string;
}

/** Returns what somebody has written in quotation marks, without marks that would end them. */
export function quoted(text: string): string {
  return `“${text.replaceAll(/["“”„‟«»＂]/g, '’')}”`;
}

/** Renders the HTML of a mail, in the name and colour of the site. A phone wraps long addresses. */
export function mailPage(content: Html): string {
  const { name } = site();
  return withoutControls(
    `${html`<!doctype html>
<html lang="en">
<body style="font:16px/1.5 sans-serif;margin:24px auto;padding:0 16px;max-width:560px;overflow-wrap:anywhere">
<p><a href="${authUrl()}/" style="${linkStyle()};font-weight:bold;text-decoration:none">${name}</a></p>
${content}
</body>
</html>`}`,
  );
}

/** Returns the style of a link in a mail. */
export const linkStyle = () => `color:${site().accent.light}`;

/**
 * Makes a mail of a letter. Its program can end such mails by one click (RFC 8058), and so can its
 * reader. `id` names the mail.
 */
export function mailOf(
  { subject, lines }: Letter,
  { to, kind, stopUrl, id }: { to: string; kind: MailKind; stopUrl: string; id: string },
): Mail {
  const { name, accent } = site();
  const reason = `${name} sends you mails ${mailWords[kind].reason}.`;
  const account = `${authUrl()}/account`;
  const [, domain = 'localhost'] = `${process.env.MAIL_FROM}`.split('@');
  const text = [
    ...lines.map((line) => `${line.text}\n${line.url}`),
    `-- \n${reason}\nStop these mails: ${stopUrl}\nYour account: ${account}\n`,
  ];
  const link = linkStyle();
  return {
    to,
    subject,
    text: withoutControls(text.join('\n\n')),
    html: mailPage(
      html`${lines.map((line) => html`<p>${line.text}<br><a href="${line.url}" style="${link}">${line.url}</a></p>\n`)}
<hr style="border:0;border-top:1px solid ${accent.light}">
<p style="font-size:14px">${reason}<br><a href="${stopUrl}" style="${link}">Stop these mails</a> · <a href="${account}" style="${link}">Your account</a></p>`,
    ),
    headers: {
      'List-Unsubscribe': `<${stopUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      // No holiday reply comes back (RFC 3834).
      'Auto-Submitted': 'auto-generated',
    },
    messageId: `<${id}@${domain}>`,
  };
}
