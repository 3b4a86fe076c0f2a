import * as v from 'valibot';
import { languages } from '../../shared/base/languages.ts';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';

export { LanguagesResponse as response } from '../../shared/core/review/presented.ts';
export const request = v.object({});

export const docs = {
  tag: 'Reviews',
  summary: 'List the languages',
  description: 'Every ISO 639-1 code that a review may be written in.',
} satisfies Docs<typeof request>;

export const handler = endpoint(request, () => ({ languages }));
