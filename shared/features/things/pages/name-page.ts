// The page to name something, or to correct its name.
import { html } from 'hono/html';
import { nameOfEntity } from '../../../core/entity/entity-type.ts';
import { knownEntity } from '../../../core/entity/metadata.ts';
import { type Entity, readRecord } from '../../../core/entity/record.ts';
import { canModerate } from '../../../core/user/user-type.ts';
import { entityLine } from '../../../pages/entity/named-entity.ts';
import { blank, type FormState, faultOf, field } from '../../../pages/form/fields.ts';
import { csrfField, type Html, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { shownRecord } from '../../names/public.ts';
import { namingFieldsOf, namingUrl } from './naming-form.ts';

/** The form with the record as stored or as sent. */
export async function namingPage(
  entity: Entity,
  { user, csrf }: Visitor,
  filled: FormState = blank,
): Promise<Page> {
  const record = shownRecord(await readRecord(entity), user);
  const metadata = record ? knownEntity(record) : null;
  const name = nameOfEntity(entity, metadata);
  const words = record ? 'Correct the name' : 'Give it a name';
  return {
    title: `${words}: ${name}`,
    heading: html`${words}: <bdi>${name}</bdi>`,
    content: html`${faultOf(filled)}
      <section>
        ${entityLine(entity, metadata, { opensTab: true })}
        ${record && !canModerate(user) && helpOf()}
        <form method="post" action="${namingUrl(entity)}">
          ${csrfField(csrf, { seen: record?.version ?? '' })}
          ${namingFieldsOf(filled, record)}
          ${record && noteField(filled)}
          <button>${record ? 'Send the correction' : 'Save the name'}</button>
        </form>
      </section>`,
  };
}

function helpOf(): Html {
  return html`<p>
    A moderator looks at your correction first, unless you named it yourself and nobody else has
    reviewed it. To report the name, leave the fields as they are and say why.
  </p>`;
}

function noteField(filled: FormState): Html {
  return field({
    name: 'note',
    label: 'Why?',
    type: 'area',
    hint: 'Moderators read it. May stay empty.',
    maxlength: 500,
    filled,
  });
}
