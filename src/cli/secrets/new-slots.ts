import { invalid, sealed, unavailable } from '../../ground/errors.ts';
import { generateMasterKey, parseMasterKey } from '../../store/master-key.ts';
import type { CreatedSlot, SlotRequest } from '../../store/slots/slot-kind.ts';
import type { OptionSpec } from '../command.ts';
import { type Given, numberOption, textOption, variable } from '../given.ts';
import { switching, taking, takingFile } from '../parse/everywhere.ts';
import type { Session } from '../session.ts';
import { printResult } from '../terminal/output.ts';
import { isRead } from '../terminal/streams.ts';
import { outputOf, passphraseIn, readKeyFile } from './secret-sources.ts';

/** Options that say what a new slot is made from. */
export const slotOptions: readonly OptionSpec[] = [
  switching(
    'passphrase',
    'A passphrase: from COFFER_NEW_PASSPHRASE or --passphrase-file, else asked for twice.',
  ),
  takingFile('passphrase-file', 'File that holds the new passphrase.'),
  takingFile('key-file', 'The content of a file, at least 32 bytes.'),
  switching('raw', 'A fresh master key, which is printed once and stored nowhere.'),
  taking('command', 'COMMAND', 'What a command prints, e.g. of a password manager.'),
  taking('shares', 'N', 'N recovery shares, which are printed once and stored nowhere.'),
  taking('threshold', 'T', 'How many of the shares are needed.'),
  taking('label', 'TEXT', 'A note for the list of slots.'),
];

/** A slot to be made, and the secret that must be shown because it was made here. */
export interface PlannedSlot {
  readonly request: SlotRequest;
  readonly freshKey?: string;
}

/**
 * The slots that the options ask for; none when they ask for none.
 * @param inNewStore then COFFER_PASSPHRASE is the new passphrase; in a store that there is, it is the one that unlocks it.
 * @throws `invalid` for impossible options, `sealed` when a passphrase is needed and nobody can be asked.
 */
export async function plannedSlots(
  session: Session,
  options: Given['options'],
  inNewStore: boolean,
): Promise<readonly PlannedSlot[]> {
  const label = textOption(options, 'label');
  const labelled = label === undefined ? {} : { label };
  const slots: PlannedSlot[] = [];
  if (options.has('passphrase') || options.has('passphrase-file')) {
    const passphrase = await newPassphrase(session, inNewStore, textOption(options, 'passphrase-file'));
    slots.push({ request: { kind: 'passphrase', passphrase, ...labelled } });
  }
  const keyFile = textOption(options, 'key-file');
  if (keyFile !== undefined) {
    slots.push({ request: { kind: 'key-file', content: readKeyFile(keyFile, '--key-file'), ...labelled } });
  }
  const command = textOption(options, 'command');
  if (command !== undefined)
    slots.push({ request: { kind: 'command', output: outputOf(command, session.environment), ...labelled } });
  if (options.has('raw')) slots.push(freshRawSlot(labelled));
  const shares = sharesRequest(options);
  if (shares !== undefined) slots.push({ request: { ...shares, ...labelled } });
  return slots;
}

function freshRawSlot(labelled: { readonly label?: string }): PlannedSlot {
  const freshKey = generateMasterKey();
  return { request: { kind: 'raw', key: parseMasterKey(freshKey), ...labelled }, freshKey };
}

/**
 * A passphrase for a new slot.
 * @throws `sealed` when there is none and nobody can be asked.
 */
export async function newPassphrase(
  session: Session,
  inNewStore: boolean,
  file?: string,
): Promise<string | Uint8Array> {
  if (file !== undefined) return passphraseIn(file, '--passphrase-file');
  const given =
    variable(session.environment, 'COFFER_NEW_PASSPHRASE') ??
    (inNewStore ? variable(session.environment, 'COFFER_PASSPHRASE') : undefined);
  if (given !== undefined) return given;
  if (session.prompts.available()) return session.prompts.newSecret('New passphrase');
  throw inNewStore
    ? sealed('a store needs something that unlocks it, and there is nobody to ask for a passphrase', {
        hint: 'set COFFER_MASTER_KEY (see "coffer keygen") or COFFER_PASSPHRASE, or use --key-file',
      })
    : sealed('there is nobody to ask for the new passphrase', {
        hint: 'set COFFER_NEW_PASSPHRASE, or use --passphrase-file',
      });
}

function sharesRequest(options: Given['options']): SlotRequest | undefined {
  if (options.has('shares') !== options.has('threshold')) {
    throw invalid('--shares and --threshold go together', { hint: 'e.g. --shares 5 --threshold 3' });
  }
  const count = wholeNumber(options, 'shares');
  const threshold = wholeNumber(options, 'threshold');
  return count === undefined || threshold === undefined ? undefined : { kind: 'shares', count, threshold };
}

const wholeNumber = (options: Given['options'], flag: string): number | undefined =>
  numberOption(options, flag, /^\d{1,3}$/, 'give a whole number from 2 to 255');

/**
 * Prints slots just made: with `-o json` a document, else the fresh keys and shares, one a line, which exist nowhere else.
 * @throws `unavailable` when nobody reads those: they are lost.
 * @param planned what they were made from, in the same order.
 * @param document made of the slots as JSON shows them.
 * @param said what happened, for the person.
 */
export async function printNewSlots(
  session: Session,
  planned: readonly PlannedSlot[],
  created: readonly CreatedSlot[],
  document: (slots: readonly object[]) => object | undefined,
  said: string,
): Promise<void> {
  const secrets = secretsOf(planned, created);
  const slots = created.map((slot, index) => slotJson(planned[index], slot));
  const wasRead =
    session.settings.format === 'json'
      ? await printResult(session, document(slots), {})
      : isRead(() => session.streams.out.write(secrets.map((secret) => `${secret}\n`).join('')));
  session.say(said);
  if (secrets.length === 0) return;
  if (!wasRead) {
    throw unavailable('nobody has read what was printed: the fresh keys and shares are lost', {
      hint: 'remove their slots, and make others',
    });
  }
  session.say(
    'Keep what is printed here safe, and apart from the store: it is shown this once, and kept nowhere.',
  );
}

const secretsOf = (planned: readonly PlannedSlot[], created: readonly CreatedSlot[]): readonly string[] =>
  created.flatMap((slot, index) => [
    ...(planned[index]?.freshKey === undefined ? [] : [planned[index].freshKey]),
    ...(slot.shareTexts ?? []),
  ]);

function slotJson(planned: PlannedSlot | undefined, { shareTexts, ...slot }: CreatedSlot): object {
  return {
    ...slot,
    ...(planned?.freshKey === undefined ? {} : { master_key: planned.freshKey }),
    ...(shareTexts === undefined ? {} : { share_texts: shareTexts }),
  };
}
