import { listSlots } from '../../store/slots/administration.ts';
import type { SlotSummary } from '../../store/slots/slot-kind.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { refuseRemote } from '../refuse-remote.ts';
import { unlockStore } from '../secrets/unlock.ts';
import { printResult } from '../terminal/output.ts';

export const command: Command = {
  arguments: [],
  options: [],
  examples: [['coffer slots list', 'Every way in, oldest first']],
  async run(session) {
    refuseRemote(session);
    const store = await unlockStore(session);
    try {
      const slots = await listSlots(store);
      await printResult(session, slots, { table: () => slotTable(slots) });
    } finally {
      store.close();
    }
    return DONE;
  },
};

const slotTable = (slots: readonly SlotSummary[]) => ({
  head: ['ID', 'Kind', 'Created', 'Label'],
  rows: slots.map((slot) => [slot.id, kindText(slot), slot.created, slot.label]),
});

const kindText = ({ kind, shares }: SlotSummary): string =>
  shares === undefined ? kind : `${kind} (${shares.threshold} of ${shares.count})`;
