/** A database of names on this machine, and things that wait for its names. For one test file. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { EntityType } from '../../shared/core/entity/entity-type.ts';
import { findMetadata } from '../../shared/core/entity/metadata.ts';
import type { Entity } from '../../shared/core/entity/record.ts';
import { stopClock } from './clock.ts';
import { silence } from './console.ts';
import { serve } from './listen.ts';
import { emptyQueues, reviewAll } from './names.ts';
import { makeUser } from './world.ts';

export type Respond = (request: IncomingMessage, response: ServerResponse) => unknown;

/** The requests of a test so far. */
export const asked: IncomingMessage[] = [];
let respond: Respond;
export const origin = await serve(
  createServer((request, response) => {
    asked.push(request);
    respond(request, response);
  }),
);

/** Sets the answer to all requests from now on. */
export function answers(next: Respond): void {
  respond = next;
}

export const json =
  (body: unknown, status = 200): Respond =>
  (_, response) =>
    response.writeHead(status).end(JSON.stringify(body));

export const known = json({ name: 'Blue' });

/** The ids in an address that was asked for. */
export const idsIn = (url = '') => decodeURIComponent(url).match(/\b[\da-f-]{36}\b/g) ?? [];

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

/** Lets so many milliseconds pass. */
export const later = (milliseconds: number) => stopClock(Date.now() + milliseconds);

const start = Date.now();
let tests = 0;
beforeEach(async () => {
  silence('warn');
  asked.length = 0;
  answers(known);
  process.env.MUSICDB_API = `${origin}/{type}/{id}`;
  process.env.MUSICDB_PAGE = 'https://music.example/{type}/{id}';
  await emptyQueues();
  // Years later, so that no run of a test before is still under way.
  tests += 1;
  stopClock(start + tests * 1000 * day);
});

const ann = await makeUser();

/** Makes things of these types that wait for a name. */
export async function reviewed(...types: EntityType[]): Promise<Entity[]> {
  const entities = types.map((entity_type) => ({ entity_id: randomUUID(), entity_type }));
  await reviewAll(ann, entities);
  return entities;
}

/** Makes so many works that wait for a name. */
export const reviewedWorks = (count: number) => reviewed(...Array<EntityType>(count).fill('work'));

export async function namesOf(entities: readonly Entity[]): Promise<(string | undefined)[]> {
  return (await findMetadata(entities)).map((metadata) => metadata?.name);
}
