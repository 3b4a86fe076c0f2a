import { databaseTypes } from './databases.ts';
import type { EntityType } from './entity-type.ts';
import { ownTypesIn } from './own-types.ts';

// Pictures of entities, which browsers load from the address that the operator names.

/** Templates of addresses by type. */
type Pictures = ReadonlyMap<string, string>;

/**
 * Reads `IMAGES`: a type and the https address of its pictures with `{id}`, separated by spaces.
 * Throws a sentence for the operator.
 */
export function readPictures(text: string): Pictures {
  const pictures = new Map<string, string>();
  for (const entry of text.split(/\s+/).filter((part) => part !== '')) {
    const [, type = '', address = ''] = /^(\w+)=(.*)$/.exec(entry) ?? [];
    const isPlain = /^https:\/\/[\w.-]+(:\d+)?\/[\w./?=&%{}~-]*$/.test(address);
    if (!isPlain || !address.includes('{id}')) {
      throw new Error(
        `IMAGES: ${entry} must be a type and an https address with {id}, as release_group=https://images.example/{id}`,
      );
    }
    pictures.set(type, address);
  }
  return pictures;
}

/** Throws a sentence for the operator if pictures are of a type that this service does not have. */
export function refuseUnknownTypes(pictures: string, ownTypes: string): void {
  const types: string[] = [...databaseTypes, ...ownTypesIn(ownTypes).keys()];
  const other = [...readPictures(pictures).keys()].find((type) => !types.includes(type));
  if (other === undefined) return;
  throw new Error(`IMAGES: ${other} must be one of ${types.join(', ')}, or a type of OWN_TYPES`);
}

/**
 * Reads `IMAGE_HOSTS`: origins that pictures redirect to, such as `https://*.archive.org`. Throws a
 * sentence for the operator.
 */
export function readPictureHosts(text: string): string[] {
  const hosts = text.split(/\s+/).filter((part) => part !== '');
  const other = hosts.find((host) => !/^https:\/\/(\*\.)?[\w-]+(\.[\w-]+)+(:\d+)?$/.test(host));
  if (other === undefined) return hosts;
  throw new Error(`IMAGE_HOSTS: ${other} must be an https origin, as https://*.archive.org`);
}

/** Returns the address of the picture of an entity, if its type has pictures. */
export function pictureOf(type: EntityType, id: string): string | undefined {
  return templates().get(type)?.replaceAll('{id}', id);
}

/** Returns the origins that pages may load pictures from. Without pictures there are none. */
export function pictureSources(): string[] {
  const origins = [...templates().values()].map((address) => new URL(address).origin);
  if (origins.length === 0) return [];
  return [...new Set([...origins, ...readPictureHosts(process.env.IMAGE_HOSTS ?? '')])];
}

/** Returns true if pages may show the picture. */
export function isShownPicture(address: string): boolean {
  const origin = URL.parse(address)?.origin;
  return [...templates().values()].some((each) => new URL(each).origin === origin);
}

let read: { text: string; pictures: Pictures } | undefined;

function templates(): Pictures {
  const text = process.env.IMAGES ?? '';
  if (read?.text !== text) read = { text, pictures: readPictures(text) };
  return read.pictures;
}
