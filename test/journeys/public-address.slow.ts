import { walkBehindProxy } from '../helpers/public-address.ts';

await walkBehindProxy('https://reviews.example.org', 'ordinary');
