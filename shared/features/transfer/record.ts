// The records of an export, line by line: their schemas, and how a line is read.
import * as v from 'valibot';
import { idIn, keyString } from '../../base/table/item.ts';
import { placeholder } from '../../base/table/kind.ts';
import {
  AnyTime,
  isVisible,
  Matching,
  parseWebUrl,
  StoredId,
  StoredTime,
} from '../../base/values.ts';
import { OperatorEntityType, StoredEntityType } from '../../core/entity/entity-type.ts';
import { EntityRecord, recordKey } from '../../core/entity/record.ts';
import { webhookSlots } from '../../core/keys.ts';
import { Application } from '../../core/oauth/application.ts';
import { Grant, nobody } from '../../core/oauth/grant.ts';
import { PersonalToken } from '../../core/oauth/personal-token-repository.ts';
import { Decision } from '../../core/report/decision.ts';
import { Case, Report } from '../../core/review/case.ts';
import { HiddenClaim, HiddenMark } from '../../core/review/hidden-claim.ts';
import { ReportedClaim, ReportedMark } from '../../core/review/reported-claim.ts';
import { countedFields, Language, LicenseChoice, Review } from '../../core/review/review.ts';
import { Revision } from '../../core/review/revision.ts';
import { WaitingText } from '../../core/review/waiting.ts';
import { hasNeeded, writtenNames } from '../../core/review/written.ts';
import { Contact, Email, StoredEmail, User } from '../../core/user/user.ts';
import { Vote } from '../../core/vote/vote.ts';
import { type ExportedKind, kinds } from '../kinds.ts';
import { namingFields, Proposal } from '../names/public.ts';
import { Webhook } from '../webhooks/public.ts';
import { foreignFile } from './foreign-file.ts';

/** A record of an export: a fact, never a number counted from facts. */
export type TransferRecord = UserRecord | FullReviewRecord | VoteRecord | RawRecord;

/** A record, and its place in the input for error messages. */
export interface SourcedRecord {
  where: string;
  record: TransferRecord;
}

/** Keeps what is no address: older code has stored it, and an export brings it back. */
function inOneSpelling(email: string | null): string | null {
  const { success, output } = v.safeParse(Email, email);
  return success ? output : email;
}

/** An account. Unknown attributes are kept. */
export const UserRecord = v.looseObject({
  ...v.omit(User, ['karma']).entries,
  kind: v.literal('user'),
  id: StoredId,
  display_name: v.pipe(v.string(), v.check(isVisible, 'must have some visible character')),
  created: AnyTime,
  /** Null if the private fields are unknown. */
  contact: v.nullish(
    v.pipe(
      v.looseObject(Contact.entries),
      v.check(
        ({ email, email_verified }) => !email_verified || v.is(StoredEmail, email),
        'must have one email address in email if email_verified is true',
      ),
      v.transform((contact) => ({ ...contact, email: inOneSpelling(contact.email) })),
    ),
    null,
  ),
});
export type UserRecord = v.InferOutput<typeof UserRecord>;

/** A revision of a review. Its votes are counted from the records of votes. */
const RevisionRecord = v.pipe(
  v.object({
    ...v.omit(Revision, ['review_id', 'votes_positive', 'votes_negative']).entries,
    timestamp: AnyTime,
  }),
  v.check((revision) => hasNeeded(revision), 'must have a text or a rating'),
);

/** A review with all its revisions, oldest first. Also for drafts and hidden reviews. */
export const FullReviewRecord = v.looseObject({
  kind: v.literal('review'),
  ...v.omit(Review, [...countedFields, ...writtenNames, 'long_text']).entries,
  id: StoredId,
  entity_id: StoredId,
  entity_type: OperatorEntityType,
  user_id: StoredId,
  language: Language,
  license: LicenseChoice,
  created: AnyTime,
  published_on: v.nullable(AnyTime),
  is_hidden: v.optional(v.boolean('must be true or false'), false),
  source: v.nullish(v.string('must be a text or null'), null),
  source_url: v.nullish(v.string('must be a text or null'), null),
  revisions: v.pipe(
    v.array(RevisionRecord),
    v.minLength(1, 'must not be empty'),
    v.check((all) => all.every(({ id }, i) => id === i + 1), 'must be numbered from 1'),
  ),
});
export type FullReviewRecord = v.InferOutput<typeof FullReviewRecord>;

/** A vote on a review and one of its revisions. */
export const VoteRecord = v.object({
  kind: v.literal('vote'),
  ...Vote.entries,
  vote: v.boolean('must be true for an upvote, or false'),
  voted_at: AnyTime,
  revision: v.optional(Vote.entries.revision, 1),
});
export type VoteRecord = v.InferOutput<typeof VoteRecord>;

/** An identity without an account keeps the decisions of moderators on its deleted account. */
const Identity = v.pipe(
  v.object({
    user_id: v.optional(StoredId),
    issuer: v.optional(v.string()),
    blocked_at: v.optional(StoredTime),
    hidden: v.optional(v.array(HiddenMark)),
    reported: v.optional(v.array(ReportedMark)),
  }),
  v.check(
    ({ issuer: _, ...item }) => Object.values(item).some(Boolean),
    'must have user_id, blocked_at, hidden or reported',
  ),
);

/** Only the claim of a hidden review has a time. */
const Claim = v.lazy((item) =>
  v.is(v.object({ marked_at: v.unknown() }), item) ? HiddenClaim : ReportedClaim,
);

const Hex = Matching(/^[\da-f]{32}$/);
/** Forms of the parts of keys that are no UUIDs. */
const idForms: Record<string, v.GenericSchema> = {
  client_id: Hex,
  grant_id: Hex,
  sha256: Matching(/^[\da-f]{64}$/),
  slot: v.picklist(webhookSlots),
  entity_type: StoredEntityType,
  id: Matching(/^[^\n]+$/),
};

/** Kinds of items that are exported as they are stored. */
export type RawKind = Exclude<
  ExportedKind,
  'user' | 'contact' | 'review' | 'text' | 'revision' | 'vote'
>;

const rawSchemas: Record<RawKind, v.GenericSchema> = {
  identity: Identity,
  application: Application,
  webhook: Webhook,
  grant: Grant,
  claim: Claim,
  entity: EntityRecord,
  proposal: Proposal,
  report: Report,
  waiting: WaitingText,
  case: Case,
  decision: Decision,
};
const rawKinds = Object.keys(rawSchemas) as RawKind[];

/** An item of another kind, with its keys and index attributes. */
export const RawRecord = v.pipe(
  v.object({
    kind: v.picklist(rawKinds),
    item: v.looseObject({
      pk: v.string(),
      sk: v.string(),
      user_id: v.nullish(StoredId),
      // A rank may exceed a number of JSON.
      popularity_rank: v.optional(Matching(/^-?\d+$/)),
    }),
  }),
  v.check(({ kind, item }) => {
    // The item of an identity lacks the values whose hash is its id.
    const values: Record<string, unknown> = { sha256: idIn(item), ...item };
    let areValid = true;
    const key = keyString(kinds[kind].key.form).replaceAll(placeholder, (_, name: string) => {
      areValid &&= v.is(idForms[name] ?? StoredId, values[name]);
      return `${values[name]}`;
    });
    return areValid && key === keyString(item);
  }, 'pk and sk do not match the item'),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { kind, item } = dataset.value;
    const isPersonal = kind === 'grant' && item.client_id === nobody;
    const result = v.safeParse(isPersonal ? PersonalToken : rawSchemas[kind], item);
    if (result.success) return;
    const [issue] = result.issues;
    addIssue({ message: `item.${v.getDotPath(issue)}: ${issue.message}` });
  }),
);
export type RawRecord = v.InferOutput<typeof RawRecord>;

/**
 * The name of a thing as people write it into a file, without the keys of its item. The operator
 * gives it, so no database overwrites it.
 */
const EntityLine = v.pipe(
  v.object({
    kind: v.literal('entity'),
    entity_type: OperatorEntityType,
    entity_id: StoredId,
    name: namingFields.name,
    about: v.nullish(namingFields.about.wrapped),
    url: v.nullish(namingFields.url.wrapped),
    image: v.nullish(
      v.pipe(
        v.string(),
        v.check(
          (text) => parseWebUrl(text)?.protocol === 'https:',
          'must be the whole https address of a picture',
        ),
      ),
    ),
  }),
  v.transform(({ kind, about, url, image, ...named }): RawRecord => {
    const written = Object.entries({ about, url, image }).filter(([, text]) => Boolean(text));
    const item = { ...named, ...Object.fromEntries(written), origin: 'operator' };
    return { kind, item: { ...recordKey(named), ...item } };
  }),
);

/** First line of an export. */
export const Header = v.looseObject({
  kind: v.literal('header'),
  format: v.string(),
  version: v.number(),
  /** Time of the newest change, ISO 8601, or null. The same data gives the same file. */
  time: v.nullish(v.string()),
  counts: v.optional(v.record(v.string(), v.number())),
});
export type Header = v.InferOutput<typeof Header>;

/** Format names: a full export for operators, and a public dump. */
export const formats = { all: 'review-service', public: 'review-service-public' } as const;
export const formatVersion = 1;

const schemas = new Map<string, v.GenericSchema<unknown, TransferRecord>>([
  ['user', UserRecord],
  ['review', FullReviewRecord],
  ['vote', VoteRecord],
  ...rawKinds.map((kind) => [kind, RawRecord] as const),
]);

/** Parses a line of an export: the record, or the reason why the line is invalid. */
export function parseRecord(text: string): TransferRecord | string {
  const value = attempt((): unknown => JSON.parse(text));
  if (typeof value !== 'object' || value === null) return 'is not a JSON object';
  const kind = 'kind' in value ? `${value.kind}` : '';
  const isLine = kind === 'entity' && !('item' in value);
  const schema = isLine ? EntityLine : schemas.get(kind);
  if (!schema) return kind === '' ? 'has no kind' : 'has an unknown kind';
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const path = v.getDotPath(issue);
  return `${path ?? kind}: ${complaintOf(issue, schema as Nested)}`;
}

/** The parts of a schema that lead to that of a field. */
interface Nested {
  entries?: Record<string, Nested>;
  item?: Nested;
  wrapped?: Nested;
}

/** Says what is wrong with a field, and what would be right. */
function complaintOf(issue: v.BaseIssue<unknown>, schema: Nested): string {
  if (!issue.message.startsWith('Invalid ')) return issue.message;
  if (issue.type === 'array') return 'must be a list';
  if (!issue.expected?.startsWith('"')) return `must be ${issue.expected}`;
  // The message of a missing field names the field. What its schema says of null is better.
  let field: Nested | undefined = schema;
  for (const { key } of issue.path ?? []) {
    while (field?.wrapped) field = field.wrapped;
    field = field?.item ?? field?.entries?.[`${key}`];
  }
  const rule = v.safeParse(field as v.GenericSchema, undefined).issues?.[0];
  return `is missing: it ${rule && complaintOf(rule, {})}`;
}

/** Parses the first line. Throws an Error if the file cannot be imported. */
export function parseHeader(text: string | undefined): Header {
  const header = attempt(() => v.parse(Header, JSON.parse(text ?? '')));
  if (header?.format === formats.public) {
    throw new Error(
      'this is a public dump, which has no accounts and no votes by person: import an export made without --public',
    );
  }
  if (header?.format !== formats.all) {
    const foreign = foreignFile(text ?? '');
    throw new Error(foreign ?? 'this is not an export: its first line is not a header');
  }
  if (header.version !== formatVersion) {
    throw new Error(
      `this export has version ${header.version} of the format, but only version ${formatVersion} can be imported`,
    );
  }
  return header;
}

const lineFeed = 0x0a;
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Splits bytes at line feeds only, because texts may contain other line separators. A line without
 * a line feed is not `isWhole`. The `text` of a line that is not UTF-8 is undefined.
 */
export async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ number: number; text: string | undefined; isWhole: boolean }> {
  const decode = (line: Uint8Array[]) => attempt(() => decoder.decode(Buffer.concat(line)));
  let number = 1;
  let parts: Uint8Array[] = [];
  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      parts.push(chunk.subarray(start, end));
      yield { number, text: decode(parts), isWhole: true };
      number++;
      start = end + 1;
      parts = [];
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
  if (parts.length > 0) yield { number, text: decode(parts), isWhole: false };
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
