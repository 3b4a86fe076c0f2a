import * as v from 'valibot';
import { endpoint } from '../shared/http/endpoint.ts';
import { languages } from '../shared/review/languages.ts';

export const request = v.object({});

export const handler = endpoint(request, () => ({ languages }));
