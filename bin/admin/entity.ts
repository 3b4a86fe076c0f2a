import { OperatorEntityType } from '../../shared/entity/entity-type.ts';
import { findByName } from '../../shared/entity/name-index.ts';
import { type EntityRecord, readRecord } from '../../shared/entity/record.ts';
import { notFound } from '../../shared/errors.ts';
import { nameAsOperator } from '../../shared/moderation/correction.ts';
import { Grounds } from '../../shared/moderation/decision.ts';
import { namingFields } from '../../shared/moderation/naming.ts';
import {
  confirmName,
  leadThing,
  mostHidden,
  removeThing,
  returnThing,
} from '../../shared/moderation/record-decisions.ts';
import { reasons } from '../../shared/review/verdict.ts';
import { Text, Uuid } from '../../shared/values.ts';
import { type AdminCommand, as } from './command.ts';

const { name, about, url } = namingFields;
const type = as(OperatorEntityType);

type NamingOptions = { name: string; about?: string; url?: string; note: string };

export function addEntityCommands(admin: AdminCommand): void {
  const entity = admin.command('entity').description('names of what people review');

  entity
    .command('find')
    .description('finds at most eight entities by the beginning of words of their names')
    .argument('<text>', 'the name, or a part of it')
    .answer(async (text: string) => ({ entities: (await findByName(text)).map(present) }));

  entity
    .command('show')
    .description('shows the record of an entity')
    .argument('<type>', 'its type, such as release_group', type)
    .argument('<entity id>', 'the entity', as(Uuid))
    .answer(async (entity_type: Type, entity_id: string) => {
      const record = await readRecord({ entity_type, entity_id });
      if (!record) throw notFound('Name');
      const { origin = null, user_id = null, written_at = null, led_from = [] } = record;
      return { ...present(record), led_from, origin, user_id, written_at };
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
      async (entity_type: Type, entity_id: string, { note, name, about, url }: NamingOptions) =>
        present(await nameAsOperator({ entity_type, entity_id }, { name, about, url }, note)),
    );

  deciding(
    'confirm',
    'confirms a name: no database overwrites it, and one that waits is public',
  ).answer(async (entity_type: Type, entity_id: string, why: Why) =>
    present(await confirmName({ entity_type, entity_id }, { by: operator(why) })),
  );

  deciding('remove', 'removes a thing, as if it had no name')
    .option('--hide-reviews', `hides up to ${mostHidden} public reviews of it first`, false)
    .answer(async (entity_type: Type, entity_id: string, why: Why & { hideReviews: boolean }) => {
      const hidesReviews = why.hideReviews;
      return present(
        await removeThing({ entity_type, entity_id }, { by: operator(why) }, { hidesReviews }),
      );
    });

  deciding('lead', 'lets a thing lead to another one of its type that is the same')
    .required('--to <entity id>', 'the other', Uuid)
    .answer(async (entity_type: Type, entity_id: string, why: Why & { to: string }) =>
      present(await leadThing({ entity_type, entity_id }, why.to, { by: operator(why) })),
    );

  deciding('return', 'brings back what was removed, or parts a thing from what it leads to').answer(
    async (entity_type: Type, entity_id: string, why: Why) =>
      present(await returnThing({ entity_type, entity_id }, { by: operator(why) })),
  );

  /** A command that decides on a thing. */
  function deciding(name: string, description: string): AdminCommand {
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
      .option('--note <text>', 'a note for the log of decisions', as(Text(0, 500)), '');
  }
}

type Type = EntityRecord['entity_type'];
type Why = Grounds;

/** The operator as who decides. */
const operator = ({ reason, note }: Why) => ({ reason, note, moderator_id: null });

/** All fields, null where there is none. */
function present(record: EntityRecord) {
  const { entity_type, entity_id, name, state = 'public' } = record;
  const { about = null, url = null, leads_to = null } = record;
  return { entity_type, entity_id, name, about, url, state, leads_to };
}
