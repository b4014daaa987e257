import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import { openCore } from '../../operations/core.ts';
import { type InitResult, initStore } from '../../store/administration/init.ts';
import { printLocation } from '../../store/backends/registry.ts';
import { kindNames } from '../../store/slots/unlock.ts';
import type { Store } from '../../store/store.ts';
import type { Dialect } from '../../transit/engine.ts';
import type { Command, Given } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { dialectOf, dialectOption } from '../parse/dialect-option.ts';
import { refuseRemote } from '../refuse-remote.ts';
import { printNewSlots } from '../secrets/new-slots.ts';
import {
  defaultSlot,
  environmentSlot,
  type PlannedSlot,
  plannedSlots,
  slotOptions,
} from '../secrets/slot-request.ts';
import type { Session } from '../session.ts';

export const command: Command = {
  arguments: [],
  options: [...slotOptions, dialectOption],
  details:
    'Without options the store is unlocked by what the environment holds (COFFER_MASTER_KEY, COFFER_MASTER_KEY_FILE, ' +
    'COFFER_MASTER_KEY_COMMAND, COFFER_PASSPHRASE, COFFER_PASSPHRASE_FILE), else by a passphrase that is asked for. ' +
    'Several options make several ways in; recovery shares come on top of one of them.',
  examples: [
    ['coffer init', 'Ask for a passphrase on the terminal'],
    [
      'coffer keygen --out master.key && COFFER_MASTER_KEY_FILE=master.key coffer init',
      'Unlocked by a key in a file',
    ],
    ['coffer init --shares 5 --threshold 3', 'With five recovery shares, any three of which unlock it'],
  ],
  async run(session, { options }) {
    refuseRemote(session);
    const dialect = dialectOf(options);
    const directory = session.settings.storeDirectory;
    const planned = await slotsOf(session, options);
    const made = await initStore({
      directory,
      slots: planned.map(({ request }) => request),
      ...(dialect === undefined ? {} : { furnish: (store) => setDialect(store, dialect) }),
    });
    await printMade(session, planned, made);
    return DONE;
  },
};

/** Shares alone would make every command ask for several people: they come beside the way in for daily use. */
async function slotsOf(session: Session, options: Given['options']): Promise<readonly PlannedSlot[]> {
  const planned = await plannedSlots(session, options, true);
  const onlyShares = planned.every(({ request }) => request.kind === 'shares');
  if (!onlyShares) return planned;
  if (planned.length === 0) return [await defaultSlot(session)];
  const daily =
    environmentSlot(session) ?? (session.prompts.available() ? await defaultSlot(session) : undefined);
  return daily === undefined ? planned : [daily, ...planned];
}

async function printMade(session: Session, planned: readonly PlannedSlot[], made: InitResult): Promise<void> {
  const directory = await printLocation(session.settings.storeDirectory);
  const ways = made.slots.map(({ kind }) => kindNames[kind]);
  const only = ways.length === 1 ? ', and with nothing else: do not lose it' : '';
  const said = `Made the store ${directory}. It opens with ${ways.join(' or ')}${only}.`;
  await printNewSlots(session, planned, made.slots, (slots) => ({ id: made.id, directory, slots }), said);
}

async function setDialect(store: Store, dialect: Dialect): Promise<void> {
  await openCore(store).mounts.tune(DEFAULT_MOUNT, { options: { dialect } });
}
