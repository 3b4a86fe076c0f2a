// Proposals, as the person's own data has them.
import * as v from 'valibot';
import { readListed } from '../../core/user/own-list.ts';
import { Proposal } from './proposal.ts';

/** Readers of lists of own data, after a key. */
export const ownLists = {
  proposed_names: readListed('PROPOSER', v.omit(Proposal, ['user_id'])),
};
