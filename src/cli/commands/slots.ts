import {
  asCofferError,
  closing,
  conflict,
  invalid,
  refusedAs,
  sealed,
  throwing,
  withOtherHint,
} from '../../ground/errors.ts';
import type { Table } from '../../operations/declaration/table.ts';
import {
  addSlot,
  listSlots,
  removeSlot,
  replaceSlot,
  requireRemovable,
  rekey as sealAgain,
} from '../../store/administration/slots.ts';
import { sealedView } from '../../store/administration/status.ts';
import { DamageError } from '../../store/administration/verified.ts';
import type { SealedStore } from '../../store/sealed/sealed-store.ts';
import type { SlotSummary } from '../../store/slots/slot-kind.ts';
import { lockAgent, sayWhyAsked } from '../agent/managing.ts';
import { type OwnCommand, takingFile } from '../command.ts';
import { unlessUnseen } from '../doubts.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { isBrief, printDocument, printResult } from '../files/output.ts';
import { textOption } from '../given.ts';
import {
  newPassphrase,
  newsOfSlots,
  type PlannedSlot,
  plannedSlots,
  slotOptions,
} from '../secrets/new-slots.ts';
import { unlockStore, unlockWithPassphrase } from '../secrets/unlock.ts';
import type { Session } from '../session.ts';
import { watched } from '../terminal/progress.ts';
import { findingText, namingDamage, sayLeftOut, WITHOUT_DAMAGED } from './whole-store.ts';

/** Runs `work` on the unlocked local store itself. */
async function onStore<T>(session: Session, work: (store: SealedStore) => Promise<T>): Promise<T> {
  session.refuseRemote();
  await sayWhyAsked(session);
  return closing(await unlockStore(session, { manages: true }), work);
}

export const list: OwnCommand = {
  examples: [
    ['coffer slots list', 'List all key slots (their kinds and labels, not the secrets), oldest first'],
  ],
  async run(session) {
    const slots = await onStore(session, listSlots);
    await printResult(session, slots, { table: () => slotTable(slots, isBrief(session)) });
  },
};

const slotTable = (slots: readonly SlotSummary[], isInWords: boolean): Table => ({
  head: ['ID', 'Kind', 'Created', 'Label'],
  rows: slots.map((slot) => [slot.id, kindText(slot, isInWords), { time: slot.created }, slot.label]),
  whole: 0,
  lesser: [2],
});

/** Returns the kind of a slot for a person: other texts call a raw key a master key. */
const kindInWords = ({ kind }: Pick<SlotSummary, 'kind'>): string => (kind === 'raw' ? 'master key' : kind);

function kindText({ kind, shares, recipient }: SlotSummary, isInWords: boolean): string {
  // Scripts compare the name that the store has for it.
  const named = isInWords ? kindInWords({ kind }) : kind;
  if (shares !== undefined) return `${named} (${shares.threshold} of ${shares.count})`;
  return recipient === undefined ? named : `${named} (${abridged(recipient)})`;
}

/** Maximum length of a public key in a table, in characters: those of age fit, others are shown with both ends. */
const KEY_CHARACTERS = 64;
const END_CHARACTERS = 16;

const abridged = (recipient: string): string =>
  recipient.length <= KEY_CHARACTERS
    ? recipient
    : `${recipient.slice(0, KEY_CHARACTERS - END_CHARACTERS - 1)}…${recipient.slice(-END_CHARACTERS)}`;

export const add: OwnCommand = {
  options: slotOptions,
  details:
    'A new secret, such as a passphrase, is one more way to unlock the store; the others keep working. Asks for an existing secret first. The data is not re-encrypted.',
  examples: [
    ['coffer slots add --passphrase', 'Add another passphrase'],
    [
      '(umask 077; coffer slots add --raw --label paper > master.key)',
      'Add a new master key and write it to a file that only you can read',
    ],
    ['coffer slots add --recipient "$(cat ~/.ssh/id_ed25519.pub)"', 'Also unlock with your SSH private key'],
    [
      'coffer slots add --shares 5 --threshold 3',
      'Print five recovery shares, any three of which unlock the store',
    ],
  ],
  async run(session, { options }) {
    // The new passphrase is asked for after the old one; all other errors are reported before.
    const isAsked = options.has('passphrase') && !options.has('passphrase-file');
    const known = isAsked ? undefined : requireOne(await plannedSlots(session, options, false));
    await onStore(session, async (store) => {
      const planned = known ?? requireOne(await plannedSlots(session, options, false));
      const news = newsOfSlots(session, [planned], ([only]) => only);
      const slot = await addSlot(store, planned.request, { tell: (created) => news.tell([created]) });
      await news.done([slot], `Added slot ${slot.id} (${kindInWords(slot)}).`);
    });
  },
};

function requireOne([planned, ...others]: readonly PlannedSlot[]): PlannedSlot {
  if (planned !== undefined && others.length === 0) return planned;
  throw invalid('exactly one kind of slot can be added', {
    hint: 'use --passphrase, --key-file, --raw, --command, --recipient, or --shares with --threshold',
  });
}

export const remove: OwnCommand = {
  arguments: [{ metavar: 'ID', help: 'ID or label of the slot, see "coffer slots list".', required: true }],
  examples: [
    ['coffer slots remove 3f9c0a1b2c3d4e5f', 'Remove the slot with this ID'],
    ['coffer slots remove paper', 'Remove the slot with the label "paper"'],
  ],
  async run(session, { arguments: [named = ''] }) {
    session.refuseRemote();
    const others = await slotsBeside(session, named);
    if (others !== undefined)
      session.remark(
        `No slot has the ID ${named} (${others}). Labels can only be read after the store is unlocked.`,
      );
    return removing(session, named).catch(
      throwing((error) => {
        const known = asCofferError(error);
        if (known === undefined || others === undefined || session.streams.err.isTerminal) return error;
        if (known.kind === 'conflict') return error;
        const missing = known.kind === 'not-found' ? '' : `no slot has the ID "${named}"; `;
        const before = known.hint === undefined ? '' : `${known.hint}; `;
        return withOtherHint(known, `${before}${missing}${others}`);
      }),
    );
  },
};

async function removing(session: Session, named: string): Promise<number> {
  if (!session.mayChange)
    await unlessUnseen(() => onStore(session, (store) => removable(session, store, named)));
  session.requireConsent();
  return onStore(session, async (store) => {
    const { id, slot } = await removable(session, store, named);
    const question = `Remove slot ${id}${slot === undefined ? '' : ` (${kindInWords(slot)})`}? Its secret will no longer unlock the store.`;
    if (!(await session.confirmed(async () => question))) return FAILED;
    await removeSlot(store, id);
    await printDocument(session, { id });
    session.say(`Removed slot ${id}. Run "coffer rekey" if its secret may have been copied.`);
    return DONE;
  });
}

/** Describes all slots, which takes no secret, if none of their files is the one that is named. */
async function slotsBeside({ settings }: Session, named: string): Promise<string | undefined> {
  const { ids, slots } = await sealedView(settings.storeLocation);
  if (ids === undefined || ids.includes(named)) return undefined;
  return `the slots are ${slots.map((slot) => `${slot.id} (${kindInWords(slot)})`).join(', ')}`;
}

/**
 * Returns the slot to remove, by its ID or label; a damaged one is removed as well.
 * @throws what its removal would be refused for, unless `--yes` leaves that to the removal
 */
async function removable(
  { settings }: Session,
  store: SealedStore,
  named: string,
): Promise<{ readonly id: string; readonly slot: SlotSummary | undefined }> {
  const slot = slotNamed(await listSlots(store).catch(refusedAs([], 'corrupt')), named);
  const id = slot?.id ?? named;
  if (!settings.yes) await requireRemovable(store, id);
  return { id, slot };
}

/**
 * Returns the slot with an ID or, if no slot has it, a label.
 * @returns undefined if there is none
 * @throws `conflict` if several have the label
 */
function slotNamed(slots: readonly SlotSummary[], named: string): SlotSummary | undefined {
  const byId = slots.find(({ id }) => id === named);
  if (byId !== undefined) return byId;
  const labelled = slots.filter(({ label }) => label === named);
  if (labelled.length > 1)
    throw conflict(`${labelled.length} slots have the label "${named}"`, {
      hint: `use an ID: ${labelled.map(({ id }) => id).join(', ')}`,
    });
  return labelled[0];
}

export const rekey: OwnCommand = {
  options: [
    { ...WITHOUT_DAMAGED, help: 'Permanently drop damaged or missing documents, instead of failing.' },
  ],
  details:
    'While it runs, other commands can read the store; those that change it wait. Afterwards, the same secrets ' +
    'unlock the store. An interrupted rekey leaves the store either unchanged or fully re-encrypted. If a ' +
    'document of the store, such as a key or a token, is damaged or missing, rekey fails and changes nothing. ' +
    'With --without-damaged, rekey drops such documents permanently: on a terminal only after a confirmation, in ' +
    'scripts without one.',
  examples: [
    ['coffer rekey', 'Rekey after removing a secret that may have leaked'],
    [
      'coffer rekey --without-damaged',
      'Rekey a damaged store, without the documents that are damaged or missing',
    ],
  ],
  async run(session, { options }) {
    return onStore(session, async (store) => {
      const sealed = await resealed(session, store, options.has(WITHOUT_DAMAGED.flag));
      if (sealed === undefined) return FAILED;
      const { files, leftOut } = sealed;
      await printDocument(session, { files, leftOut });
      sayLeftOut(session, leftOut, 'dropped');
      session.say(`Re-encrypted ${files} ${files === 1 ? 'file' : 'files'} with a new root key.`);
      await lockAgent(session);
      return DONE;
    });
  },
};

/**
 * Re-encrypts a store. A user who can be asked sees what is lost before it is dropped.
 * @returns undefined if the user does not want that
 */
async function resealed(
  session: Session,
  store: SealedStore,
  withoutDamaged: boolean,
): Promise<Awaited<ReturnType<typeof sealAgain>> | undefined> {
  const seal = (drops: boolean) =>
    watched(session, (onProgress) => sealAgain(store, { onProgress, withoutDamaged: drops }));
  if (!withoutDamaged || session.settings.yes || !session.prompts.available())
    return namingDamage(session, () => seal(withoutDamaged));
  try {
    // With damage, this fails before anything is changed.
    return await seal(false);
  } catch (error) {
    if (!(error instanceof DamageError)) throw error;
    const { findings } = error;
    for (const finding of findings) session.warn(`lost: ${finding.file} ${findingText(finding)}`);
    const what =
      findings.length === 1 ? 'the content of this file' : `the content of these ${findings.length} files`;
    return (await session.confirmed(async () => `Permanently delete ${what}?`)) ? seal(true) : undefined;
  }
}

const FILE = 'passphrase-file';
/** Kinds of slots that a passphrase may open: the output of a command is tried as one, too. */
const TAKING: ReadonlySet<string> = new Set(['passphrase', 'command']);

/** Replaces the key slot of the passphrase, in one step. */
export const changePassphrase: OwnCommand = {
  options: [takingFile(FILE, 'Read the new passphrase from FILE.')],
  details:
    'Asks for the current passphrase, then twice for the new one. In scripts, the current one is read from ' +
    '$COFFER_PASSPHRASE or $COFFER_PASSPHRASE_FILE, the new one from $COFFER_NEW_PASSPHRASE or --passphrase-file. ' +
    'The data, and other secrets that unlock the store, are not changed. The old passphrase still opens earlier copies ' +
    'and backups of the store. If an attacker may have such a copy and the old passphrase, run "coffer rekey" as well: ' +
    'it gives the store a new root key.',
  examples: [
    ['coffer passphrase change', 'Change the passphrase'],
    ['coffer passphrase change --passphrase-file new.txt', 'Read the new passphrase from a file'],
  ],
  async run(session, { options }) {
    session.refuseRemote();
    const { slots: there } = await sealedView(session.settings.storeLocation);
    if (there.length > 0 && !there.some(({ kind }) => TAKING.has(kind))) {
      throw sealed('this store has no passphrase', { hint: 'add one with "coffer slots add --passphrase"' });
    }
    await sayWhyAsked(session);
    await closing(await unlockWithPassphrase(session), async (store) => {
      const { slotId } = store.keyring;
      const slots = await listSlots(store);
      const slot = slots.find(({ id }) => id === slotId);
      if (slot !== undefined && slot.kind !== 'passphrase') {
        throw conflict(`slot ${slotId} gets this passphrase from a command, so it cannot be changed here`, {
          hint: `change it in your password manager; then set COFFER_PASSPHRASE to the old one, and run "coffer slots add --command COMMAND" and "coffer slots remove ${slotId}"`,
        });
      }
      const passphrase = await newPassphrase(session, false, textOption(options, FILE));
      const request = { kind: 'passphrase', passphrase } as const;
      const created = await replaceSlot(store, slotId, request);
      await printDocument(session, created);
      session.say('Changed the passphrase.');
      const others = slots.filter(({ id, kind }) => id !== slotId && kind === 'passphrase').length;
      if (others > 0) session.say(othersText(others));
      await lockAgent(session);
    });
  },
};

const othersText = (count: number): string =>
  `${count === 1 ? 'Another passphrase still unlocks' : `${count} other passphrases still unlock`} the store, see "coffer slots list".`;
