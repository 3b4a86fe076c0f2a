import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// The search of the demo: a database of its own entities, with the protocol of a real one.

interface Named {
  entity_id: string;
  entity_type: string;
  name: string;
  by: string;
  year: string;
}

/** Lets `/find` search for these entities, unless a database is configured. */
export async function startDemoSearch(entities: readonly Named[]): Promise<void> {
  const server = createServer(({ url = '' }, response) => {
    const { searchParams } = new URL(url, 'http://localhost');
    const type = searchParams.get('type') ?? '';
    const words = plain(searchParams.get('name') ?? '').split(' ');
    const found = entities.filter(({ entity_type, name }) => {
      const spelled = entity_type.replace(/^bk_(literary_)?/, '').replaceAll('_', '-');
      return spelled === type && words.every((word) => plain(name).includes(word));
    });
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ found: found.map(matchOf) }));
  });
  await once(server.listen(0, '127.0.0.1').unref(), 'listening');
  const { port } = server.address() as AddressInfo;
  for (const group of ['MUSICDB', 'BOOKDB']) {
    process.env[`${group}_SEARCH`] ||= `http://127.0.0.1:${port}/?type={type}&name={name}`;
  }
}

/** A match in the form of MusicBrainz. */
function matchOf({ entity_id: id, name, by, year }: Named) {
  return { id, name, 'artist-credit': [{ name: by }], 'first-release-date': year };
}

/** A text without accents and capitals. */
function plain(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().trim();
}
