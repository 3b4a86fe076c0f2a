// Compares what is counted and listed with what is stored, and counts anew.
export { audit } from './audit.ts';
export { hasFormerNodes, rebuildTotals } from './rebuild.ts';
export { recountOwners } from './recount.ts';
