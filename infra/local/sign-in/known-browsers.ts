// Browsers that have signed in by mail. Strangers who ask for many mails do not shut them out.
import type { IncomingMessage } from 'node:http';
import { parseCookie } from 'cookie';
import * as v from 'valibot';
import { open, seal } from '../../../shared/pages/session/sealed.ts';
import { cookieName, setCookie } from '../../../shared/pages/session/session.ts';

/** Names of mailboxes, which say nothing about their addresses. */
const Known = v.object({ mailboxes: v.array(v.string()) });

/** Mailboxes of one browser, for example of a family. */
const mostOfBrowser = 3;

/** In seconds: half a year. */
const lifetime = 182 * 86_400;

const cookie = 'known-browser';

/** Returns the names of the mailboxes with which a browser has signed in, latest first. */
export async function mailboxesOf({ headers }: IncomingMessage): Promise<string[]> {
  const sealed = parseCookie(headers.cookie ?? '')[cookieName(cookie)];
  return (sealed && (await open('known-browser', Known, sealed))?.content.mailboxes) || [];
}

/** Returns the Set-Cookie header that remembers a sign-in of the browser. */
export async function rememberMailbox(request: IncomingMessage, name: string): Promise<string> {
  const others = (await mailboxesOf(request)).filter((each) => each !== name);
  const mailboxes = [name, ...others].slice(0, mostOfBrowser);
  return setCookie(cookie, await seal('known-browser', { mailboxes }, lifetime), lifetime);
}
