import * as v from 'valibot';
import { bodyOf } from '../../shared/core/http/request.ts';
import { mailKinds } from '../../shared/core/user/mail-kinds.ts';
import { setMails } from '../../shared/core/user/mails.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

/** A box that is not ticked is not sent. The form names the boxes that it has. */
const Box = v.optional(v.literal('yes'));

export const request = signedIn({
  body: bodyOf({
    shown: v.string(),
    ...v.entriesFromList(mailKinds, Box),
  }),
});

/** Saves which mails a person gets. Kinds that the form did not show stay as they are. */
export const handler = page(request, async ({ caller, body: { shown, ...boxes } }) => {
  const kinds = mailKinds.filter((kind) => shown.split(' ').includes(kind));
  await setMails(
    caller.user_id,
    Object.fromEntries(kinds.map((kind) => [kind, boxes[kind] === 'yes'])),
  );
  return { location: '/account', notice: 'mails-saved' };
});
