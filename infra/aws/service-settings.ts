import { readFileSync } from 'node:fs';
import { readContact } from '../../shared/base/site/contact.ts';
import { readSite } from '../../shared/base/site/site.ts';
import { refuseUnknownTypes } from '../../shared/core/entity/picture.ts';
import { faultOf, type SettingName, settings, settingsWith } from '../settings.ts';
import { readSiteFolder } from '../site/read.ts';

// The settings of a service on AWS: a file with a line NAME=value for each.

export const settingNames = settingsWith(({ on }) => on !== 'server');

/**
 * Returns the settings in a file, those of all functions by name, and the files of the site. Throws
 * a sentence for the operator.
 */
export function readSettings(file: string | undefined) {
  if (file === undefined) return settingsOf({});
  try {
    return settingsOf(linesIn(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`);
  }
}

/** Reads lines as Docker Compose does, for which `#` within a value begins no comment. */
function linesIn(text: string): Record<string, string> {
  const lines = text.split('\n').map((line) => line.trim());
  const entries = lines.flatMap((line) => {
    if (line === '' || line.startsWith('#')) return [];
    const [, name = '', quoted, plain = ''] = /^(\w+)=(?:"(.*)"|(.*))$/.exec(line) ?? [];
    if (name === '') throw new Error(`${line} is no line of the form NAME=value`);
    const value = (quoted ?? plain).trim();
    return value === '' ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

function settingsOf(given: Record<string, string>) {
  const names: readonly string[] = settingNames;
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown) throw new Error(`${unknown} is no setting of a service on AWS`);
  for (const name of settingNames) {
    const fault = given[name] && faultOf(name, given[name]);
    if (fault) throw new Error(fault);
  }
  const { SITE_FOLDER, SECURITY_CONTACT, ...values } = Object.fromEntries(
    settingNames.map((name) => [name, given[name] ?? settings[name].usual ?? '']),
  ) as Record<SettingName, string>;
  refuseUnknownTypes(values.IMAGES, values.OWN_TYPES);
  const folder = SITE_FOLDER ? readSiteFolder(SITE_FOLDER) : undefined;
  const variables = { ...values, SITE_LOGO: '', SITE_PAGES: '', ...folder?.settings };
  const { contact } = readSite(variables);
  return {
    variables,
    content: folder?.content,
    securityContact: SECURITY_CONTACT ? readContact('SECURITY_CONTACT', SECURITY_CONTACT) : contact,
  };
}
