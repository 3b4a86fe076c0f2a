// The fields in which people name a thing, and the addresses of the pages with them.
import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import type { Entity, EntityRecord } from '../../../core/entity/record.ts';
import { type FieldLook, type FormState, fieldsOf } from '../../../pages/form/fields.ts';
import type { Html } from '../../../pages/frame/layout.ts';
import { withQuery } from '../../../pages/frame/own-url.ts';
import { longestNaming } from '../../names/public.ts';

type NamingField = 'name' | 'about' | 'url';

const looks: Readonly<Record<NamingField, FieldLook>> = {
  name: {
    label: 'Name',
    hint: 'Its title, as people know it.',
    maxlength: longestNaming,
    isRequired: true,
  },
  about: {
    label: 'What tells it apart',
    hint: 'Who made it, and the year or the place. May stay empty.',
    maxlength: longestNaming,
  },
  url: {
    label: 'A page about it',
    hint: 'Its address, such as https://example.org/page. May stay empty.',
    type: 'url',
    maxlength: 2000,
  },
};

/** The fields, as sent or else as stored. */
export function namingFieldsOf(
  filled: FormState,
  { name = '', about = '', url = '' }: Partial<Pick<EntityRecord, NamingField>> = {},
): Html {
  return fieldsOf(looks, filled, { name, about, url });
}

/** Address of the form to name something, or to correct its name. */
export function namingUrl({ entity_id, entity_type }: Entity): string {
  return withQuery(`${authUrl()}/entity/${entity_id}/name`, { entity_type });
}

/** Address of the page on which moderators decide on a thing. */
export function recordUrl({ entity_id, entity_type }: Entity): string {
  return withQuery(`${authUrl()}/account/moderation/things/${entity_id}`, { entity_type });
}

/** The link to name something or to correct its name. */
export function namingLink(entity: Entity, isNamed: boolean): Html {
  const text = isNamed ? 'Correct or report' : 'Give it a name';
  return html`<a rel="nofollow" href="${namingUrl(entity)}">${text}</a>`;
}
