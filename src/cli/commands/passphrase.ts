import { conflict, sealed } from '../../ground/errors.ts';
import { listSlots, replaceSlot } from '../../store/administration/slots.ts';
import { sealedView } from '../../store/administration/status.ts';
import { lockAgent } from '../agent/lock.ts';
import { sayWhyAsked } from '../agent/why-asked.ts';
import type { OwnCommand } from '../command.ts';
import { printDocument } from '../files/output.ts';
import { textOption } from '../given.ts';
import { takingFile } from '../parse/everywhere.ts';
import { newPassphrase } from '../secrets/new-slots.ts';
import { unlockWithPassphrase } from '../secrets/unlock.ts';

const FILE = 'passphrase-file';
/** Kinds of slots that a passphrase may open: the output of a command is tried as one, too. */
const TAKING: ReadonlySet<string> = new Set(['passphrase', 'command']);

/** Replaces the key slot of the passphrase, in one step. */
export const change: OwnCommand = {
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
    const store = await unlockWithPassphrase(session, 'Current passphrase');
    try {
      const { slotId } = store.keyring;
      const slots = await listSlots(store);
      const slot = slots.find(({ id }) => id === slotId);
      if (slot !== undefined && slot.kind !== 'passphrase') {
        throw conflict(`slot ${slotId} gets this passphrase from a command, so it cannot be changed here`, {
          hint: `first change it in your password manager, then run "coffer slots add --command COMMAND" and "coffer slots remove ${slotId}"`,
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
      return;
    } finally {
      store.close();
    }
  },
};

const othersText = (count: number): string =>
  `${count === 1 ? 'Another passphrase still unlocks' : `${count} other passphrases still unlock`} the store, see "coffer slots list".`;
