import { html } from 'hono/html';
import type { UserType } from '../user/user-type.ts';
import type { Html } from './layout.ts';

// Without Intl, whose first DateTimeFormat or DisplayNames takes a quarter of a cold start.
const months =
  'January February March April May June July August September October November December'.split(
    ' ',
  );

const languageNames: ReadonlyMap<string, string> = new Map(
  `
  aa Afar|ab Abkhazian|ae Avestan|af Afrikaans|ak Akan|am Amharic|an Aragonese|ar Arabic
  as Assamese|av Avaric|ay Aymara|az Azerbaijani|ba Bashkir|be Belarusian|bg Bulgarian|bi Bislama
  bm Bambara|bn Bangla|bo Tibetan|br Breton|bs Bosnian|ca Catalan|ce Chechen|ch Chamorro
  co Corsican|cr Cree|cs Czech|cu Church Slavic|cv Chuvash|cy Welsh|da Danish|de German|dv Divehi
  dz Dzongkha|ee Ewe|el Greek|en English|eo Esperanto|es Spanish|et Estonian|eu Basque|fa Persian
  ff Fula|fi Finnish|fj Fijian|fo Faroese|fr French|fy Western Frisian|ga Irish
  gd Scottish Gaelic|gl Galician|gn Guarani|gu Gujarati|gv Manx|ha Hausa|he Hebrew|hi Hindi
  ho Hiri Motu|hr Croatian|ht Haitian Creole|hu Hungarian|hy Armenian|hz Herero|ia Interlingua
  id Indonesian|ie Interlingue|ig Igbo|ii Sichuan Yi|ik Inupiaq|io Ido|is Icelandic|it Italian
  iu Inuktitut|ja Japanese|jv Javanese|ka Georgian|kg Kongo|ki Kikuyu|kj Kuanyama|kk Kazakh
  kl Kalaallisut|km Khmer|kn Kannada|ko Korean|kr Kanuri|ks Kashmiri|ku Kurdish|kv Komi
  kw Cornish|ky Kyrgyz|la Latin|lb Luxembourgish|lg Ganda|li Limburgish|ln Lingala|lo Lao
  lt Lithuanian|lu Luba-Katanga|lv Latvian|mg Malagasy|mh Marshallese|mi Māori|mk Macedonian
  ml Malayalam|mn Mongolian|mr Marathi|ms Malay|mt Maltese|my Burmese|na Nauru
  nb Norwegian Bokmål|nd North Ndebele|ne Nepali|ng Ndonga|nl Dutch|nn Norwegian Nynorsk
  no Norwegian|nr South Ndebele|nv Navajo|ny Nyanja|oc Occitan|oj Ojibwa|om Oromo|or Odia
  os Ossetic|pa Punjabi|pi Pali|pl Polish|ps Pashto|pt Portuguese|qu Quechua|rm Romansh|rn Rundi
  ro Romanian|ru Russian|rw Kinyarwanda|sa Sanskrit|sc Sardinian|sd Sindhi|se Northern Sami
  sg Sango|si Sinhala|sk Slovak|sl Slovenian|sm Samoan|sn Shona|so Somali|sq Albanian|sr Serbian
  ss Swati|st Southern Sotho|su Sundanese|sv Swedish|sw Swahili|ta Tamil|te Telugu|tg Tajik
  th Thai|ti Tigrinya|tk Turkmen|tl Filipino|tn Tswana|to Tongan|tr Turkish|ts Tsonga|tt Tatar
  tw Akan|ty Tahitian|ug Uyghur|uk Ukrainian|ur Urdu|uz Uzbek|ve Venda|vi Vietnamese|vo Volapük
  wa Walloon|wo Wolof|xh Xhosa|yi Yiddish|yo Yoruba|za Zhuang|zh Chinese|zu Zulu
`
    .trim()
    .split(/\s*[|\n]\s*/)
    .map((line) => [line.slice(0, 2), line.slice(3)]),
);

/** The day of an ISO 8601 time in UTC, as 1 February 2026. */
export function dayOf(iso: string): Html {
  return html`<time datetime="${iso.slice(0, 10)}">${wordsOf(iso)}</time>`;
}

/** An ISO 8601 time in UTC to the minute. */
export function minuteOf(iso: string): Html {
  return html`<time datetime="${iso}">${wordsOf(iso)} at ${iso.slice(11, 16)} UTC</time>`;
}

// Minutes of each unit of an age.
const units = [
  ['day', 1440],
  ['hour', 60],
  ['minute', 1],
] as const;

/** The time since then, as 3 hours. */
export function ageOf(iso: string): Html {
  const minutes = (Date.now() - Date.parse(iso)) / 60_000;
  const unit = units.find(([, size]) => minutes >= size);
  if (!unit) return html`<time datetime="${iso}">a\u00a0moment</time>`;
  const [name, size] = unit;
  const count = Math.floor(minutes / size);
  return html`<time datetime="${iso}">${count}\u00a0${name}${count > 1 && 's'}</time>`;
}

function wordsOf(iso: string): string {
  const [year, month, day] = iso.slice(0, 10).split('-').map(Number);
  return `${day} ${months[Number(month) - 1]} ${year}`;
}

/** The English name of an ISO 639-1 code. */
export function nameOfLanguage(code: string): string {
  return languageNames.get(code) ?? code;
}

/** A user type as pages call it. The API has to call beginners by a mocking name. */
export function nameOfType({ label }: UserType): string {
  return label === 'Noob' ? 'New' : label;
}

/** A count with its noun, as 1 review or 2 reviews. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Words for the number of people who use an application. */
export function peopleOf({ count, isMore }: { count: number; isMore: boolean }): string {
  if (isMore) return `${count} people or more`;
  if (count === 0) return 'nobody yet';
  return count === 1 ? '1 person' : `${count} people`;
}

/** The host of a registered URL. */
export function hostOf(url: string): string {
  return new URL(url).host;
}
