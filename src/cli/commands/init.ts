import { openCore } from '../../operations/core.ts';
import { printLocation } from '../../store/backends/location.ts';
import { type InitResult, initStore } from '../../store/init.ts';
import { openStore } from '../../store/open.ts';
import type { Credential } from '../../store/slots/credential.ts';
import type { CreatedSlot, SlotRequest } from '../../store/slots/slot-kind.ts';
import { kindNames } from '../../store/slots/unlock.ts';
import { DEFAULT_MOUNT, type Dialect } from '../../transit/mounts.ts';
import type { Command, Given } from '../command.ts';
import { dialectOf, dialectOption } from '../dialect-option.ts';
import { DONE } from '../exit-codes.ts';
import { printResult } from '../output.ts';
import { refuseRemote } from '../refuse-remote.ts';
import type { Session } from '../session.ts';
import {
  defaultSlot,
  environmentSlot,
  type PlannedSlot,
  plannedSlots,
  sayAboutSecrets,
  secretsOf,
  slotJson,
  slotOptions,
} from '../slot-request.ts';

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
    const credentials = planned.flatMap(({ request }) => credentialOf(request));
    const made = await initStore({ directory, slots: planned.map(({ request }) => request) });
    if (dialect !== undefined) {
      await setDialect(directory, [...credentials, ...made.slots.flatMap(shareCredential)], dialect);
    }
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
  const secrets = secretsOf(planned, made.slots);
  if (session.settings.format === 'json') {
    const slots = made.slots.map((slot, index) => slotJson(planned[index], slot));
    await printResult(session, { id: made.id, directory, slots }, {}, { file: undefined, keepBase64: true });
  } else {
    for (const secret of secrets) session.streams.out.write(`${secret}\n`);
  }
  const ways = made.slots.map(({ kind }) => kindNames[kind]);
  const only = ways.length === 1 ? ', and with nothing else: do not lose it' : '';
  session.say(`Made the store ${directory}. It opens with ${ways.join(' or ')}${only}.`);
  sayAboutSecrets(session, secrets);
}

async function setDialect(
  directory: string,
  credentials: readonly Credential[],
  dialect: Dialect,
): Promise<void> {
  const store = await openStore({ directory, credentials });
  try {
    await openCore(store).mounts.tune(DEFAULT_MOUNT, { dialect });
  } finally {
    store.close();
  }
}

/** What opens a slot again. Bytes are copied: the originals may be overwritten once a store was made with them. */
function credentialOf(request: SlotRequest): Credential[] {
  const source = 'the new slot';
  if (request.kind === 'shares') return [];
  if (request.kind === 'passphrase') {
    const { passphrase } = request;
    return [{ source, kind: 'passphrase', reveal: () => passphrase }];
  }
  const copy = Buffer.from(bytesOf(request));
  return [{ source, kind: request.kind, reveal: () => copy }];
}

function bytesOf(
  request: Extract<SlotRequest, { readonly kind: 'raw' | 'key-file' | 'command' }>,
): Uint8Array {
  if (request.kind === 'raw') return request.key;
  return request.kind === 'key-file' ? request.content : request.output;
}

const shareCredential = ({ shareTexts }: CreatedSlot): Credential[] =>
  shareTexts === undefined ? [] : [{ source: 'the new shares', kind: 'shares', reveal: () => shareTexts }];
