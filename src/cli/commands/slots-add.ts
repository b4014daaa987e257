import { invalid } from '../../ground/errors.ts';
import { addSlot } from '../../store/slots/administration.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { refuseRemote } from '../refuse-remote.ts';
import { printNewSlots } from '../secrets/new-slots.ts';
import { plannedSlots, slotOptions } from '../secrets/slot-request.ts';
import { unlockStore } from '../secrets/unlock.ts';

export const command: Command = {
  arguments: [],
  options: slotOptions,
  details: 'The store must be unlocked in one of the ways that it has already. Data are not touched.',
  examples: [
    ['coffer slots add --passphrase', 'Ask for a further passphrase'],
    ['coffer slots add --raw --label pipeline', 'Print a fresh master key that also unlocks the store'],
    ['coffer slots add --shares 5 --threshold 3', 'Print five recovery shares, any three of which unlock it'],
  ],
  async run(session, { options }) {
    refuseRemote(session);
    const store = await unlockStore(session);
    try {
      const [planned, ...others] = await plannedSlots(session, options, false);
      if (planned === undefined || others.length > 0) {
        throw invalid('say which one way to add', {
          hint: 'use --passphrase, --key-file, --raw, --command, or --shares with --threshold',
        });
      }
      const slot = await addSlot(store, planned.request);
      const said = `Added slot ${slot.id} (${slot.kind}).`;
      await printNewSlots(session, [planned], [slot], ([only]) => only, said);
    } finally {
      store.close();
    }
    return DONE;
  },
};
