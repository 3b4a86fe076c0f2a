// Export and import of all data, and of archives of other services.
export { beginBulk, isBulkUnfinished, isEmptyTable } from './bulk.ts';
export { dumpRecords } from './critiquebrainz.ts';
export { loadDump } from './critiquebrainz-archive.ts';
export {
  allRecords,
  headerOf,
  jsonLines,
  publicEntities,
  publicHeaders,
  publicReviews,
  publicUsers,
  scanInto,
} from './export.ts';
export { archiveIn } from './foreign-file.ts';
export { Gaps } from './gaps.ts';
export { importRecords } from './import.ts';
export {
  FullReviewRecord,
  linesOf,
  parseHeader,
  parseRecord,
  type SourcedRecord,
  type TransferRecord,
  VoteRecord,
} from './record.ts';
export { Spool } from './spool.ts';
export { rebuildAll, upgradeTable } from './upgrade.ts';
