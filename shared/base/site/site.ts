// The site: its name, colours, contact and the like, as the operator has set them.
import * as v from 'valibot';
import { languages } from '../languages.ts';
import { licenses } from '../licenses.ts';
import { contrastOf, leastContrast, lightened } from './colour.ts';
import { readContact } from './contact.ts';
import { grounds } from './palette.ts';

/** A page of the operator's own, in the order of the footer. */
const PageTitle = v.object({ slug: v.string(), title: v.string() });
type PageTitle = v.InferOutput<typeof PageTitle>;

/** The settings of a site. What is not set is undefined, or as it is without any setting. */
export interface Site {
  name: string;
  /** Is false while the service has no name of its own. */
  isNamed: boolean;
  /** A sentence about the site. */
  text: string | undefined;
  /** A URI, mostly mailto: or https:. */
  contact: string | undefined;
  /** The colours of links and buttons, as #rrggbb. */
  accent: { light: string; dark: string };
  /** Address of a picture that previews of links show. */
  image: string | undefined;
  license: string | undefined;
  language: string | undefined;
  /** Digest of the logo, if there is one. */
  logo: string | undefined;
  pages: readonly PageTitle[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Colours of a site that has set none. */
const usualAccent = { light: '#2f55d4', dark: '#8aa4ff' };

/** Characters of a name and of a sentence. The header and previews of links show them. */
const longest = { name: 40, text: 200 };

let memo: Site | undefined;

/** Returns the site of this process, read at the first call. */
export function site(): Site {
  memo ??= readSite({
    SITE_NAME: process.env.SITE_NAME,
    SITE_TEXT: process.env.SITE_TEXT,
    SITE_CONTACT: process.env.SITE_CONTACT,
    SITE_ACCENT: process.env.SITE_ACCENT,
    SITE_IMAGE: process.env.SITE_IMAGE,
    SITE_LICENSE: process.env.SITE_LICENSE,
    SITE_LANGUAGE: process.env.SITE_LANGUAGE,
    SITE_LOGO: process.env.SITE_LOGO,
    SITE_PAGES: process.env.SITE_PAGES,
  });
  return memo;
}

/** Reads and checks the settings. Throws a sentence for the operator. */
export function readSite(environment: Environment): Site {
  const { SITE_NAME, SITE_CONTACT, SITE_ACCENT, SITE_LOGO, SITE_PAGES } = environment;
  const name = readLine('SITE_NAME', SITE_NAME, longest.name);
  return {
    name: name ?? 'Reviews',
    isNamed: name !== undefined,
    text: readLine('SITE_TEXT', environment.SITE_TEXT, longest.text),
    contact: SITE_CONTACT?.trim() ? readContact('SITE_CONTACT', SITE_CONTACT.trim()) : undefined,
    accent: SITE_ACCENT?.trim() ? readAccent(SITE_ACCENT) : usualAccent,
    image: readImage(environment.SITE_IMAGE),
    license: readOneOf('SITE_LICENSE', environment.SITE_LICENSE, licenseIds),
    language: readOneOf('SITE_LANGUAGE', environment.SITE_LANGUAGE, languages),
    logo: SITE_LOGO || undefined,
    pages: SITE_PAGES ? v.parse(v.array(PageTitle), JSON.parse(SITE_PAGES)) : [],
  };
}

const licenseIds = licenses.map(({ id }) => id);

function readLine(setting: string, value: string | undefined, most: number): string | undefined {
  const line = value?.trim().replaceAll(/\s+/g, ' ');
  if (!line) return undefined;
  if ([...line].length > most) {
    throw new Error(`${setting} has ${[...line].length} characters: it may have at most ${most}`);
  }
  return line;
}

/** Reads the colour on a light page, and the one on a dark page, which else is a lighter one. */
function readAccent(value: string): { light: string; dark: string } {
  const colours = value.trim().toLowerCase().split(/\s+/);
  const [light = '', dark] = colours;
  if (colours.length > 2 || !colours.every((each) => /^#[\da-f]{6}$/.test(each))) {
    throw new Error(
      `SITE_ACCENT ${value} is no colour: write it as #2f55d4, or two as #2f55d4 #8aa4ff`,
    );
  }
  expectContrast(light, 'light');
  if (dark !== undefined) expectContrast(dark, 'dark');
  return { light, dark: dark ?? lightened(light, grounds.dark) };
}

function expectContrast(colour: string, scheme: 'light' | 'dark'): void {
  const contrast = Math.min(...grounds[scheme].map((ground) => contrastOf(colour, ground)));
  if (contrast >= leastContrast) return;
  const other = scheme === 'light' ? 'darker' : 'lighter';
  // Rounded down, so that a refused contrast never reads as enough.
  const number = (Math.floor(contrast * 100) / 100).toFixed(2);
  throw new Error(
    `SITE_ACCENT ${colour} has a contrast of ${number} on a ${scheme} page, and needs ${leastContrast}: choose a ${other} colour`,
  );
}

function readImage(value: string | undefined): string | undefined {
  const address = value?.trim();
  if (!address) return undefined;
  if (URL.parse(address)?.protocol === 'https:') return address;
  throw new Error(`SITE_IMAGE ${address} is no address of a picture: it begins with https://`);
}

function readOneOf<T extends string>(
  setting: string,
  value: string | undefined,
  choices: readonly T[],
): T | undefined {
  const choice = value?.trim();
  if (!choice) return undefined;
  const found = choices.find((each) => each === choice);
  if (found !== undefined) return found;
  const all = choices.length > 10 ? 'a code of two letters such as en' : choices.join(', ');
  throw new Error(`${setting} ${choice} is unknown: choose ${all}`);
}
