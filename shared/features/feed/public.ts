// Atom feeds of reviews.
export { newest, reviewFeed } from './atom.ts';
