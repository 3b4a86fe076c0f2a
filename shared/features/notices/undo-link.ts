// The link in a mail that undoes a move of an account to another address.
import * as v from 'valibot';
import { authUrl } from '../../base/auth-url.ts';
import { invalidRequest } from '../../base/errors.ts';
import { undoSeconds } from '../../core/user/user.ts';
import { open, seal } from '../../pages/session/sealed.ts';

/** The move that a link undoes: of an account, from the identity with this hash. */
const Undo = v.object({ user_id: v.string(), from: v.string() });
export type Undo = v.InferOutput<typeof Undo>;

/** Returns the link that undoes a move. It is signed, and can do no more. */
export async function undoUrl({ user_id, from }: Undo): Promise<string> {
  return `${authUrl()}/account/address/${await seal('undo-move', { user_id, from }, undoSeconds)}`;
}

/** Returns what a link undoes. Throws ApiError 400 if it was changed or has expired. */
export async function readUndo(token: string): Promise<Undo> {
  const undo = await open('undo-move', Undo, token);
  if (!undo) throw tooLate();
  return undo.content;
}

/** 400: the move can no longer be undone. */
export const tooLate = () =>
  invalidRequest('This link no longer works: write to the operator of this service');
