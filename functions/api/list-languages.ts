import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/http/endpoint.ts';
import { languages } from '../../shared/review/languages.ts';

export { LanguagesResponse as response } from '../../shared/review/presented.ts';
export const request = v.object({});

export const docs = {
  tag: 'Reviews',
  summary: 'List the languages',
  description: 'Every ISO 639-1 code that a review may be written in.',
} satisfies Docs<typeof request>;

export const handler = endpoint(request, () => ({ languages }));
