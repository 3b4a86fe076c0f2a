import * as v from 'valibot';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';
import { tokensPage } from '../shared/pages/tokens-page.ts';

export const request = v.object({ caller: Session });

export const handler = page(request, ({ caller }, { visitor }) =>
  tokensPage(caller.user_id, visitor.csrf),
);
