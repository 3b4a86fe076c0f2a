import * as v from 'valibot';
import { readStop, stopPage } from '../../shared/features/notices/public.ts';
import { page } from '../../shared/pages/form/page.ts';

export const request = v.object({ path: v.object({ token: v.string() }) });

/** Shows a button that ends mails of a kind. */
export const handler = page(request, async ({ path }) => stopPage(await readStop(path.token)));
