import * as v from 'valibot';
import { homePage } from '../shared/pages/home-page.ts';
import { page } from '../shared/pages/page.ts';

export const request = v.object({});

/** What somebody sees who opens the service's address. */
export const handler = page(request, () => homePage());
