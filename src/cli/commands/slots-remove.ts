import { listSlots, removeSlot } from '../../store/slots/administration.ts';
import type { Command } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { refuseRemote } from '../refuse-remote.ts';
import { unlockStore } from '../secrets/unlock.ts';
import { confirmed, requireConsent } from '../terminal/consent.ts';

export const command: Command = {
  arguments: [{ metavar: 'ID', help: 'The slot, as "coffer slots list" shows it.', required: true }],
  options: [],
  examples: [['coffer slots remove 3f9c0a1b2c3d4e5f', 'Whoever knows only that secret is locked out']],
  async run(session, { arguments: [id = ''] }) {
    refuseRemote(session);
    requireConsent(session);
    const store = await unlockStore(session);
    try {
      const slot = (await listSlots(store)).find((candidate) => candidate.id === id);
      const question = `Remove slot ${id}${slot === undefined ? '' : ` (${slot.kind})`}? Its secret will no longer unlock the store.`;
      if (!(await confirmed(session, async () => question))) return FAILED;
      await removeSlot(store, id);
    } finally {
      store.close();
    }
    session.say(`Removed slot ${id}. Run "coffer rekey" if its secret may have been copied.`);
    return DONE;
  },
};
