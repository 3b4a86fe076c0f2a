import * as v from 'valibot';
import { reference } from '../../shared/features/docs/public.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';

/** Shows the index of the API reference. It has the ids of what the other pages describe. */
export const handler = visitedPage(v.object({}), async () => ({
  title: 'API reference',
  description: 'Every endpoint with its parameters, answers and errors, and a command to copy.',
  isWide: true,
  content: reference(),
}));
