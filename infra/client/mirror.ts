import { Gone, InvalidAnswer, type ReviewClient } from './client.ts';
import type { Answer, components, Item } from './types.ts';
import type { Message } from './webhooks.ts';

type Change = Answer<'/changes', 'get'>['changes'][number];
type ReviewRecord = NonNullable<Change['review']>;
type Revision = ReviewRecord['revisions'][number];
type Listed = Item<'/review'>;
type Named = components['schemas']['Metadata'];
type Thing = Omit<Named, 'url'> & { url: string | null; leads_to: string | null };
type Author = Answer<'/changes', 'get'>['users'][number];

/** Everything that a mirror holds, for JSON. */
export interface MirrorState {
  /** The cursor in the change feed, or an empty text before the beginning. */
  next: string;
  /** Public reviews, in the form of a dump, by id. */
  reviews: Record<string, ReviewRecord>;
  /** The highest version seen of each review, also of those that are gone. */
  versions: Record<string, number>;
  /** Authors by id. */
  users: Record<string, Author>;
  /** Things with a name by `<type>/<id>`, because one id may name two. */
  things: Record<string, Thing>;
}

/** Copies what a mirror holds, or nothing. */
function copyOf(state: Partial<MirrorState> = {}): MirrorState {
  const { next = '', reviews, versions, users, things } = state;
  return {
    next,
    reviews: recordOf(reviews),
    versions: recordOf(versions),
    users: recordOf(users),
    things: recordOf(things),
  };
}

/** Makes a record that takes any key, also `__proto__`. */
const recordOf = <T>(entries: Readonly<Record<string, T>> = {}): Record<string, T> =>
  Object.assign(Object.create(null), entries);

/** Times of dumps and changes are ISO 8601. */
const iso = (date: string) => new Date(date).toISOString();

/**
 * A copy of all public reviews, their authors and the names of what they are about. It begins with
 * a dump or with the lists, and follows the change feed.
 * @example
 *   const mirror = new Mirror(new ReviewClient(base), JSON.parse(saved));
 *   await mirror.update();
 *   save(JSON.stringify(mirror.state));
 */
export class Mirror {
  readonly #api: ReviewClient;
  #state: MirrorState;
  #updating: Promise<void> | undefined;
  #isNews = false;

  constructor(api: ReviewClient, state?: MirrorState) {
    this.#api = api;
    this.#state = copyOf(state);
  }

  get state(): MirrorState {
    return this.#state;
  }

  /**
   * Begins with a dump: its files by name, such as `reviews-CC0-1.0.jsonl.gz` and `POSITION`. In
   * Node.js, `openAsBlob` of `node:fs` opens a file.
   */
  async begin(files: Readonly<Record<string, Blob>>): Promise<void> {
    const state = copyOf();
    for (const [name, file] of Object.entries(files)) {
      if (!name.endsWith('.jsonl.gz')) continue;
      for await (const { kind, ...record } of recordsOf(file)) {
        if (kind === 'review') state.reviews[record.id] = { kind, ...record };
        else if (kind === 'user') state.users[record.id] = authorOf(record);
        else if (kind === 'entity') state.things[keyOf(record)] = record;
      }
    }
    if (!files.POSITION) throw new Error('The dump has no file POSITION');
    state.next = (await files.POSITION.text()).trim();
    this.#state = state;
  }

  /**
   * Brings the mirror up to date. Begins anew from the lists if there is nothing yet, or if the
   * cursor is gone: after 30 days, and after a restore of the service. Calls at the same time share
   * one run, and what is told during it is read as well.
   */
  async update(): Promise<void> {
    this.#isNews = true;
    this.#updating ??= this.#run().finally(() => {
      this.#updating = undefined;
    });
    await this.#updating;
  }

  /**
   * Takes a verified message of a webhook as the news that something has changed, and reads it from
   * the change feed. So messages may be lost, repeated, out of order or cut short.
   */
  async receive({ type }: Pick<Message, 'type'>): Promise<void> {
    if (/^(review|entity|log)\./.test(type)) await this.update();
  }

  async #run(): Promise<void> {
    while (this.#isNews) {
      this.#isNews = false;
      if (!this.#state.next) await this.#readLists();
      try {
        await this.#follow();
      } catch (error) {
        if (!(error instanceof Gone)) throw error;
        await this.#readLists();
        await this.#follow();
      }
    }
  }

  async #follow(): Promise<void> {
    for (let hasMore = true; hasMore; ) {
      const query = { since: this.#state.next, limit: 100 };
      const page = await this.#api.get('/changes', { query });
      for (const change of page.changes) await this.#apply(change);
      for (const user of page.users) this.#state.users[user.id] = authorOf(user);
      hasMore = page.has_more;
      if (hasMore && page.next === query.since) {
        throw new InvalidAnswer('The change feed has more, and its cursor stays where it was');
      }
      // Last, so that a page is read again if it was not applied whole.
      this.#state.next = page.next;
    }
  }

  async #apply(change: Change): Promise<void> {
    const { id, version, subject, review, entity, leads_to = null } = change;
    const { reviews, versions, things } = this.#state;
    if (subject.type !== 'review') {
      // Without an entity, its name was taken down.
      if (entity) things[keyOf(subject)] = thingOf(entity, leads_to);
      else delete things[keyOf(subject)];
      return;
    }
    // Each change is told at least once, and versions never go back.
    if (version <= (versions[id] ?? 0)) return;
    if (review) reviews[id] = await this.#whole(review);
    else delete reviews[id];
    versions[id] = version;
  }

  /** Reads the revisions that a long review has left out. */
  async #whole({ earlier_revisions, ...review }: ReviewRecord): Promise<ReviewRecord> {
    if (earlier_revisions === undefined) return review;
    const [{ id: oldest } = { id: 1 }] = review.revisions;
    const earlier = await this.#revisions(review.id, oldest);
    return { ...review, revisions: [...earlier, ...review.revisions] };
  }

  /** Reads the revisions before a number, the oldest first. */
  async #revisions(review_id: string, before: number): Promise<Revision[]> {
    const list = this.#api.list('/review/{review_id}/revisions', {
      path: { review_id },
      query: { before },
    });
    const revisions: Revision[] = [];
    for await (const revision of list) revisions.unshift(revisionOf(revision));
    return revisions;
  }

  async #readLists(): Promise<void> {
    const state = copyOf();
    // First, so that changes meanwhile are read again.
    const { next } = await this.#api.get('/changes');
    const query = { include_metadata: true };
    for await (const listed of this.#api.list('/review', { query })) {
      state.reviews[listed.id] = await this.#recordOf(listed);
      state.users[listed.user.id] = authorOf(listed.user);
      if (listed.metadata) state.things[keyOf(listed.metadata)] = thingOf(listed.metadata, null);
    }
    await this.#readLinks(state.things);
    this.#state = { ...state, next };
  }

  /** Reads where things lead. The list of things leaves out those that lead to another. */
  async #readLinks(things: MirrorState['things']): Promise<void> {
    const listed = new Set<string>();
    const query = { sort: 'reviews' } as const;
    for await (const thing of this.#api.list('/entity', { query })) listed.add(keyOf(thing));
    for (const [key, thing] of Object.entries(things)) {
      if (listed.has(key)) continue;
      const path = { entity_id: thing.id };
      const { entity } = await this.#api.get('/entity/{entity_id}', { path });
      if (entity.entity_type === thing.type) thing.leads_to = entity.leads_to;
    }
  }

  /** Returns a review of a list in the form of a dump. Its times have no milliseconds. */
  async #recordOf(listed: Listed): Promise<ReviewRecord> {
    const { id, text, rating, votes, edits, last_updated } = listed;
    const revisions =
      edits > 0
        ? await this.#revisions(id, edits + 2)
        : [
            revisionOf({
              id: 1,
              text,
              rating,
              timestamp: last_updated,
              votes_positive: votes.positive,
              votes_negative: votes.negative,
            }),
          ];
    return {
      kind: 'review',
      id,
      entity_id: listed.entity_id,
      entity_type: listed.entity_type,
      user_id: listed.user.id,
      language: listed.language,
      license: listed.license.id,
      created: iso(listed.created),
      published_on: iso(listed.published_on ?? listed.created),
      source: listed.source,
      source_url: listed.source_url,
      revisions,
    };
  }
}

const keyOf = ({ type, id }: { type: string; id: string }) => `${type}/${id}`;

const authorOf = ({ id, display_name, karma }: Author): Author => ({ id, display_name, karma });

/** Returns a thing as a dump has it: one that has its page only here has no address. */
function thingOf(named: Named, leads_to: string | null): Thing {
  const isHere = named.url.endsWith(`/entity/${named.id}`);
  return { ...named, url: isHere ? null : named.url, leads_to };
}

/** Returns a revision of an answer in the form and the order of a dump. */
function revisionOf(revision: Revision): Revision {
  const { id, text, rating, timestamp, votes_positive, votes_negative } = revision;
  return { id, text, rating, timestamp: iso(timestamp), votes_positive, votes_negative };
}

/** Reads the records of a file, after its header. */
async function* recordsOf(file: Blob) {
  const text = file
    .stream()
    .pipeThrough(new DecompressionStream('gzip'))
    .pipeThrough(new TextDecoderStream());
  let rest = '';
  let isHeader = true;
  const reader = text.getReader();
  for (;;) {
    const { done, value = '\n' } = await reader.read();
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!isHeader && line) yield JSON.parse(line);
      isHeader = false;
    }
    if (done) return;
  }
}
