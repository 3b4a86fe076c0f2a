import { dataFormat } from '../shared/table/format.ts';

// Settings that the data of a service is read with. A program that connects to the service, such as
// the operator's tool, takes them from it and from nowhere else.

/** Names of the settings: types, limits, and the addresses of names and pictures. */
export const dataSettings = [
  'OWN_TYPES',
  'SHOWN_GROUPS',
  'HELD_REVIEWS',
  'PUBLICATIONS_PER_DAY',
  'EDITS_PER_DAY',
  'MAIL_FROM',
  'IMAGES',
  'MUSICDB_API',
  'MUSICDB_PAGE',
  'BOOKDB_API',
  'BOOKDB_PAGE',
] as const;

/** Values by name. A setting without a value is absent. */
export type DataSettings = Partial<Record<(typeof dataSettings)[number], string>>;

/** Returns the settings among environment variables or options. */
export function dataSettingsIn(values: Readonly<Record<string, string | undefined>>): DataSettings {
  return Object.fromEntries(
    dataSettings.flatMap((name) => (values[name] ? [[name, values[name]]] : [])),
  );
}

/** Sets the environment to the settings of a service, before code that reads them is loaded. */
export function adopt(settings: DataSettings): void {
  for (const name of dataSettings) {
    const value = settings[name];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

/** Throws a sentence if the data of a service has a format that this code does not know. */
export function refuseNewerFormat(format: number): void {
  if (format <= dataFormat) return;
  throw new Error(
    `the data of the service has format ${format}, and this code reads formats up to ${dataFormat}: use the code of the version that runs`,
  );
}

/** Throws a sentence if this process works with other settings than the service. */
export function refuseOthers(settings: DataSettings): void {
  const own = dataSettingsIn(process.env);
  const other = dataSettings.find((name) => own[name] !== settings[name]);
  if (other === undefined) return;
  throw new Error(
    `the service was started with another ${other} than this command has read: repeat the command`,
  );
}
