import { walkBehindProxy } from './public-address.ts';

await walkBehindProxy('https://reviews.example.org', 'ordinary');
