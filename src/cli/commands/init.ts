import { alternatives } from '../../ground/alternatives.ts';
import { asCofferError } from '../../ground/errors.ts';
import { openCore } from '../../operations/core.ts';
import { type InitResult, initStore, refuseStoreAt } from '../../store/administration/init.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { printLocation } from '../../store/backends/registry.ts';
import { kindNames } from '../../store/slots/unlock.ts';
import type { Store } from '../../store/store.ts';
import type { Dialect } from '../../transit/engine.ts';
import type { OwnCommand } from '../command.ts';
import { type Given, textOption } from '../given.ts';
import { dialectOf, dialectOption } from '../parse/dialect-option.ts';
import { IF_MISSING, ifMissing } from '../parse/operation-spec.ts';
import {
  newPassphrase,
  newsOfSlots,
  type PlannedSlot,
  plannedSlots,
  slotOptions,
  warnIfWeak,
} from '../secrets/new-slots.ts';
import { environmentSlot, unlockSources } from '../secrets/secret-sources.ts';
import type { Session } from '../session.ts';

const variables = unlockSources.filter(({ slot }) => slot !== undefined).map(({ variable }) => variable);

export const command: OwnCommand = {
  options: [...slotOptions, dialectOption, ifMissing],
  details:
    `Without options, the store is unlocked by the secret in the environment (${variables.join(', ')}) ` +
    'or, if none is set, by a passphrase, which init prompts for. --passphrase, --key-file, --raw, --command and ' +
    '--recipient choose other secrets instead; each unlocks the store by itself. With --shares alone, the secret in ' +
    'the environment, or a passphrase that init prompts for on a terminal, unlocks the store, too; where there is ' +
    'neither, as in a script, only the shares do.',
  examples: [
    ['coffer init', 'Prompt for a passphrase'],
    [
      'coffer keygen --out master.key && COFFER_MASTER_KEY_FILE=master.key coffer init',
      'Unlock with a master key in a file',
    ],
    ['coffer init --recipient "$(cat ~/.ssh/id_ed25519.pub)"', 'Unlock with your SSH private key'],
    [
      'coffer init --shares 5 --threshold 3',
      'Also print five recovery shares, any three of which unlock the store',
    ],
  ],
  async run(session, { options }) {
    session.refuseRemote();
    const dialect = dialectOf(options);
    const location = session.settings.storeLocation;
    try {
      await refuseStoreAt(location);
      await make(session, options, location, dialect);
    } catch (error) {
      const known = asCofferError(error);
      if (known?.kind !== 'exists' || !options.has(IF_MISSING)) throw error;
      session.say(`${known.message}.`);
    }
  },
};

async function make(
  session: Session,
  options: Given['options'],
  location: Location,
  dialect: Dialect | undefined,
): Promise<void> {
  const planned = await slotsOf(session, options);
  const directory = await printLocation(location);
  let id = '';
  const news = newsOfSlots(session, planned, (slots) => ({ id, directory, slots }));
  const made = await initStore({
    location,
    tell: (told) => {
      id = told.id;
      return news.tell(told.slots);
    },
    slots: planned.map(({ request }) => request),
    furnish: dialect === undefined ? undefined : (store) => setDialect(store, dialect),
  });
  await news.done(made.slots, saying(directory, made));
}

/**
 * Returns the key slots of a new store. With shares alone, every command would require several people, so there is also
 * a slot for daily use.
 */
async function slotsOf(session: Session, options: Given['options']): Promise<readonly PlannedSlot[]> {
  const planned = await plannedSlots(session, options, true);
  if (planned.some(({ request }) => request.kind !== 'shares')) return planned;
  // With shares, the label is theirs.
  const label = planned.length === 0 ? textOption(options, 'label') : undefined;
  const labelled = label === undefined ? {} : { label };
  const given = environmentSlot(session.environment);
  if (given !== undefined) {
    if (given.kind === 'passphrase') await warnIfWeak(session, given.passphrase);
    return [{ request: { ...given, ...labelled } }, ...planned];
  }
  if (planned.length > 0 && !session.prompts.available()) return planned;
  const passphrase = await newPassphrase(session, true);
  return [{ request: { kind: 'passphrase', passphrase, ...labelled } }, ...planned];
}

function saying(directory: string, { slots }: InitResult): string {
  const ways = slots.map(({ kind }) => kindNames[kind]);
  const only = ways.length === 1 ? '; without that, its data is lost' : '';
  return `Created store ${directory}. Unlock it with ${alternatives(ways)}${only}.`;
}

async function setDialect(store: Store, dialect: Dialect): Promise<void> {
  await openCore(store).mounts.setDefaults({ dialect });
}
