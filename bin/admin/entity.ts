import { OperatorEntityType } from '../../shared/entity/entity-type.ts';
import { type EntityRecord, readRecord } from '../../shared/entity/record.ts';
import { notFound } from '../../shared/errors.ts';
import { nameAsOperator } from '../../shared/moderation/correction.ts';
import { namingFields } from '../../shared/moderation/naming.ts';
import { findThings } from '../../shared/things/find-things.ts';
import { Text, Uuid } from '../../shared/values.ts';
import { type AdminCommand, as } from './command.ts';

const { name, about, url } = namingFields;
const type = as(OperatorEntityType);

type NamingOptions = { name: string; about?: string; url?: string; note: string };

export function addEntityCommands(admin: AdminCommand): void {
  const entity = admin.command('entity').description('names of what people review');

  entity
    .command('find')
    .description('finds at most eight entities by the beginning of words of their names and lines')
    .argument('<text>', 'the name, or a part of it')
    .answer(async (text: string) => {
      const { things } = await findThings(text);
      return { entities: things.map(({ record }) => present(record)) };
    });

  entity
    .command('show')
    .description('shows the record of an entity')
    .argument('<type>', 'its type, such as release_group', type)
    .argument('<entity id>', 'the entity', as(Uuid))
    .answer(async (entity_type: EntityRecord['entity_type'], entity_id: string) => {
      const record = await readRecord({ entity_type, entity_id });
      if (!record) throw notFound('Name');
      const { origin = null, user_id = null, written_at = null } = record;
      return { ...present(record), origin, user_id, written_at };
    });

  entity
    .command('name')
    .description('names an entity or corrects its name, which no database overwrites then')
    .argument('<type>', 'its type, such as release_group', type)
    .argument('<entity id>', 'the entity', as(Uuid))
    .required('--name <text>', 'the name', name)
    .option('--about <text>', 'what tells it apart, such as artist and year', as(about.wrapped))
    .option('--url <url>', 'the address of a page about it', as(url.wrapped))
    .option('--note <text>', 'a note for the log of decisions', as(Text(0, 500)), '')
    .answer(
      async (
        entity_type: EntityRecord['entity_type'],
        entity_id: string,
        { note, name, about, url }: NamingOptions,
      ) => present(await nameAsOperator({ entity_type, entity_id }, { name, about, url }, note)),
    );
}

/** All fields, null where there is none. */
function present(record: EntityRecord) {
  const { entity_type, entity_id, name } = record;
  return { entity_type, entity_id, name, about: record.about ?? null, url: record.url ?? null };
}
