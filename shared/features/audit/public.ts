// Compares what is counted and listed with what is stored.
export { audit } from './audit.ts';
