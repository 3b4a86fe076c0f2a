import { notFound } from '../../shared/base/errors.ts';
import { Text, Uuid } from '../../shared/base/values.ts';
import { OperatorEntityType } from '../../shared/core/entity/entity-type.ts';
import { type Entity, type EntityRecord, readRecord } from '../../shared/core/entity/record.ts';
import { Grounds } from '../../shared/core/report/decision.ts';
import { reasons } from '../../shared/core/review/verdict.ts';
import {
  confirmName,
  leadThing,
  mostHidden,
  nameAsOperator,
  namingFields,
  removeThing,
  returnThing,
} from '../../shared/features/names/public.ts';
import { findThings } from '../../shared/features/things/public.ts';
import { type AdminCommand, as } from './command.ts';
import { asOperator } from './moderation.ts';

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
    .answer(async (entity_type: Type, entity_id: string) => {
      const record = await readNamed({ entity_type, entity_id });
      const { origin = null, user_id = null, written_at = null, led_from = [] } = record;
      const { merged_into = null } = record;
      return { ...present(record), led_from, merged_into, origin, user_id, written_at };
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
      async (entity_type: Type, entity_id: string, { note, name, about, url }: NamingOptions) => {
        await nameAsOperator({ entity_type, entity_id }, { name, about, url }, note);
        return present(await readNamed({ entity_type, entity_id }));
      },
    );

  deciding(
    'confirm',
    'confirms a name: no database overwrites it, and one that waits is public',
    confirmName,
  );
  deciding('remove', 'removes a thing, as if it had no name', (entity, by, { hideReviews }) =>
    removeThing(entity, by, { hidesReviews: hideReviews === true }),
  ).option('--hide-reviews', `hides up to ${mostHidden} public reviews of it first`, false);
  deciding(
    'lead',
    'lets a thing lead to another one of its type that is the same',
    (entity, by, { to = '' }) => leadThing(entity, to, by),
  ).required('--to <entity id>', 'the other', Uuid);
  deciding(
    'return',
    'brings back what was removed, or parts a thing from what it leads to',
    returnThing,
  );

  /** Adds a command that decides on a thing. */
  function deciding(name: string, description: string, decide: Decide): AdminCommand {
    return entity
      .command(name)
      .description(description)
      .argument('<type>', 'its type, such as release_group', type)
      .argument('<entity id>', 'the entity', as(Uuid))
      .option(
        '--reason <reason>',
        `one of ${reasons.join(', ')}`,
        as(Grounds.entries.reason),
        'other',
      )
      .option('--note <text>', 'a note for the log of decisions', as(Text(0, 500)), '')
      .answer(async (entity_type: Type, entity_id: string, { reason, note, ...rest }: Why) => {
        await decide({ entity_type, entity_id }, { by: asOperator({ reason, note }) }, rest);
        return present(await readNamed({ entity_type, entity_id }));
      });
  }
}

type Type = EntityRecord['entity_type'];
type Why = Grounds & { to?: string; hideReviews?: boolean };

/** Decides on a thing. Some commands have an option of their own. */
type Decide = (
  entity: Entity,
  decider: { by: ReturnType<typeof asOperator> },
  options: Omit<Why, keyof Grounds>,
) => Promise<void>;

/** Reads a record. Throws ApiError 404 if there is none. */
async function readNamed(entity: Entity): Promise<EntityRecord> {
  const record = await readRecord(entity);
  if (!record) throw notFound('Name');
  return record;
}

/** All fields, null where there is none. */
function present(record: EntityRecord) {
  const { entity_type, entity_id, name, state = 'public' } = record;
  const { about = null, url = null, leads_to = null } = record;
  return { entity_type, entity_id, name, about, url, state, leads_to };
}
