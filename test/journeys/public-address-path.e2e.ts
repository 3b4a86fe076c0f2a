import { walkBehindProxy } from './public-address.ts';

await walkBehindProxy('https://example.org/reviews', 'ordinary');
