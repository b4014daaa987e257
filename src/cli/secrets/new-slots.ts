import { invalid, sealed, unavailable } from '../../ground/errors.ts';
import { systemRandom } from '../../ground/random.ts';
import { generateMasterKey, parseMasterKey } from '../../store/master-key.ts';
import type { CreatedSlot, SlotRequest } from '../../store/slots/slot-kind.ts';
import { type OptionSpec, switching, taking, takingFile } from '../command.ts';
import { printResult } from '../files/output.ts';
import { type Given, numberOption, textOption, textsOption, variable } from '../given.ts';
import type { Session } from '../session.ts';
import { isRead } from '../terminal/streams.ts';
import { newKeyFile, outputOf, passphraseIn } from './secret-sources.ts';

/** Options for the secret of a new key slot. */
export const slotOptions: readonly OptionSpec[] = [
  switching(
    'passphrase',
    'Let a passphrase unlock the store; prompts unless $COFFER_NEW_PASSPHRASE or --passphrase-file is set.',
  ),
  takingFile('passphrase-file', 'Read the new passphrase from FILE.'),
  takingFile('key-file', 'Let the contents of FILE, at least 32 bytes, unlock the store.'),
  switching('raw', 'Let a new master key unlock the store. The key is printed once and not stored.'),
  taking('command', 'COMMAND', 'Let the output of COMMAND, e.g. a password manager, unlock the store.'),
  taking('shares', 'N', 'Print N recovery shares once; any T of them (--threshold) unlock the store.'),
  taking('threshold', 'T', 'Number of shares needed to unlock; required with --shares.'),
  taking(
    'recipient',
    'WHO',
    'Let the age or SSH private key that belongs to this public key unlock the store: age1…, "ssh-ed25519 …", or @FILE with one per line. Can be repeated.',
    { takes: 'values', offers: 'file' },
  ),
  taking('label', 'TEXT', 'Name for the new secret in "coffer slots list".'),
];

/** Slot to create, and the key that must be shown because it was generated here. */
export interface PlannedSlot {
  readonly request: SlotRequest;
  readonly freshKey?: string;
}

/**
 * Returns the slots that the options request; empty if there are none.
 * @param inNewStore whether COFFER_PASSPHRASE is the new passphrase; for an existing store, it is the one that unlocks
 * it
 * @throws `invalid` for impossible options; `sealed` if a passphrase is needed and the user cannot be asked
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
    slots.push({ request: { kind: 'key-file', content: newKeyFile(keyFile, '--key-file'), ...labelled } });
  }
  const command = textOption(options, 'command');
  if (command !== undefined)
    slots.push({ request: { kind: 'command', output: outputOf(command, session.environment), ...labelled } });
  if (options.has('raw')) {
    const freshKey = generateMasterKey();
    slots.push({ request: { kind: 'raw', key: parseMasterKey(freshKey), ...labelled }, freshKey });
  }
  for (const word of textsOption(options, 'recipient')) {
    const { wrapSecrets } = await import('./wrapped-secrets.ts');
    const secrets = await wrapSecrets(session, word);
    slots.push(...secrets.map((one) => ({ request: { kind: 'recipient', ...one, ...labelled } as const })));
  }
  const shares = sharesRequest(options);
  if (shares !== undefined) slots.push({ request: { ...shares, ...labelled } });
  return slots;
}

/** Warns if a new passphrase that was not typed at a prompt is weak, with the reason. */
export async function warnIfWeak(session: Session, passphrase: string | Uint8Array): Promise<void> {
  const { weaknessOf } = await import('./passphrases.ts');
  const weakness = weaknessOf(Buffer.from(passphrase).toString());
  if (weakness === undefined) return;
  session.warn(
    `weak passphrase: ${weakness}; anyone with a copy of the store could guess it (use several random words)`,
  );
}

/** Asks for a new passphrase until it is not weak, or the user confirms a weak one. */
async function typedPassphrase(session: Session): Promise<string> {
  const { freshPassphrase, weaknessOf } = await import('./passphrases.ts');
  const { prompts, settings } = session;
  for (;;) {
    const passphrase = await prompts.newSecret('New passphrase', async () => freshPassphrase(systemRandom));
    const weakness = weaknessOf(passphrase);
    if (weakness === undefined) return passphrase;
    if (settings.yes) {
      await warnIfWeak(session, passphrase);
      return passphrase;
    }
    const question = `This passphrase is weak: ${weakness}. Anyone with a copy of the store could guess it. Use it anyway?`;
    if (await prompts.confirm(question)) return passphrase;
  }
}

/**
 * Returns a passphrase for a new slot. About a weak one, a user who types it is asked; any other is warned about.
 * @throws `sealed` if none is given and the user cannot be asked
 */
export async function newPassphrase(
  session: Session,
  inNewStore: boolean,
  file?: string,
): Promise<string | Uint8Array> {
  const given =
    file === undefined
      ? (variable(session.environment, 'COFFER_NEW_PASSPHRASE') ??
        (inNewStore ? variable(session.environment, 'COFFER_PASSPHRASE') : undefined))
      : passphraseIn(file, '--passphrase-file');
  if (given !== undefined) {
    await warnIfWeak(session, given);
    return given;
  }
  if (session.prompts.available()) return typedPassphrase(session);
  throw inNewStore
    ? sealed('no secret given to unlock the new store: cannot prompt for a passphrase', {
        hint: 'set COFFER_PASSPHRASE, or COFFER_MASTER_KEY as printed by "coffer keygen", or use --key-file',
      })
    : sealed('cannot prompt for the new passphrase', {
        hint: 'set COFFER_NEW_PASSPHRASE, or use --passphrase-file',
      });
}

function sharesRequest(options: Given['options']): SlotRequest | undefined {
  if (options.has('shares') !== options.has('threshold')) {
    throw invalid('--shares and --threshold must be used together', {
      hint: 'e.g. --shares 5 --threshold 3',
    });
  }
  const count = wholeNumber(options, 'shares');
  const threshold = wholeNumber(options, 'threshold');
  return count === undefined || threshold === undefined ? undefined : { kind: 'shares', count, threshold };
}

const wholeNumber = (options: Given['options'], flag: string): number | undefined =>
  numberOption(options, flag, /^\d{1,3}$/, 'use an integer from 2 to 255');

/**
 * Returns the report of the slots: with `-o json` a document, otherwise the generated keys and shares, one per line,
 * which are stored nowhere else. They are printed before the slots are created, so a key is never lost after a failure
 * or kill, and there is never a slot whose key nobody knows.
 * @param planned requests of the slots, in the same order
 * @param document builds the document from the slots as shown in JSON
 * @see docs/decisions/0119
 */
export function newsOfSlots(
  session: Session,
  planned: readonly PlannedSlot[],
  document: (slots: readonly object[]) => object | undefined,
) {
  const print = async (created: readonly CreatedSlot[]): Promise<boolean> => {
    if (session.settings.format !== 'json') return printSecrets(session, secretsOf(planned, created));
    const slots = created.map(({ shareTexts, ...slot }, index) => ({
      ...slot,
      master_key: planned[index]?.freshKey,
      share_texts: shareTexts,
    }));
    return printResult(session, document(slots), {});
  };
  return {
    /**
     * Prints the generated keys and shares; called before the slots are created.
     * @throws `unavailable` if the reader of the output is gone
     */
    async tell(created: readonly CreatedSlot[]): Promise<void> {
      if (secretsOf(planned, created).length === 0 || (await print(created))) return;
      throw unavailable('standard output was closed before the secret was written; nothing was created', {
        hint: 'check where standard output goes and retry',
      });
    },
    /** Prints the rest of the result, and a message. */
    async done(created: readonly CreatedSlot[], said: string): Promise<void> {
      const hasSecrets = secretsOf(planned, created).length > 0;
      if (!hasSecrets) await print(created);
      session.say(said);
      if (hasSecrets) {
        const isOne = secretsOf(planned, created).length === 1;
        session.say(
          isOne
            ? 'Store this secret safely, away from the store. It is not shown again.'
            : 'Store these secrets safely, away from the store and from each other. They are not shown again.',
        );
      }
    },
  };
}

const printSecrets = ({ streams }: Session, secrets: readonly string[]): boolean =>
  isRead(() => streams.out.write(secrets.map((secret) => `${secret}\n`).join('')));

const secretsOf = (planned: readonly PlannedSlot[], created: readonly CreatedSlot[]): readonly string[] =>
  created.flatMap((slot, index) => [
    ...(planned[index]?.freshKey === undefined ? [] : [planned[index].freshKey]),
    ...(slot.shareTexts ?? []),
  ]);
