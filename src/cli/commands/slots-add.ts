import { invalid } from '../../errors.ts';
import { addSlot } from '../../store/slots/administration.ts';
import type { CreatedSlot } from '../../store/slots/slot-kind.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { printResult } from '../output.ts';
import { refuseRemote } from '../refuse-remote.ts';
import type { Session } from '../session.ts';
import {
  type PlannedSlot,
  plannedSlots,
  sayAboutSecrets,
  secretsOf,
  slotJson,
  slotOptions,
} from '../slot-request.ts';
import { unlockStore } from '../unlock.ts';

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
      await printAdded(session, planned, await addSlot(store, planned.request));
    } finally {
      store.close();
    }
    return DONE;
  },
};

async function printAdded(session: Session, planned: PlannedSlot, slot: CreatedSlot): Promise<void> {
  const secrets = secretsOf([planned], [slot]);
  if (session.settings.format === 'json') {
    await printResult(session, slotJson(planned, slot), {}, { file: undefined, keepBase64: true });
  } else {
    for (const secret of secrets) session.streams.out.write(`${secret}\n`);
  }
  session.say(`Added slot ${slot.id} (${slot.kind}).`);
  sayAboutSecrets(session, secrets);
}
