import * as v from 'valibot';
import { deletionPage } from '../shared/pages/deletion-page.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({ caller: Session });

export const handler = page(request, ({ caller }, { visitor }) => deletionPage(caller, visitor));
