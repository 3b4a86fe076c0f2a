import { walkBehindProxy } from '../helpers/public-address.ts';

await walkBehindProxy('https://example.org/reviews', 'demo');
