import * as v from 'valibot';
import { applicationsPage } from '../shared/pages/applications-page.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({ caller: Session });

export const handler = page(request, ({ caller }, { visitor }) =>
  applicationsPage(caller.user_id, visitor.csrf),
);
