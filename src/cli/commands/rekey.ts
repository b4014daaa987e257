import { rekey } from '../../store/administration/rekey.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { refuseRemote } from '../refuse-remote.ts';
import { unlockStore } from '../secrets/unlock.ts';
import { Progress } from '../terminal/progress.ts';

export const command: Command = {
  arguments: [],
  options: [],
  details:
    'Every way to unlock the store keeps working with its old secret. Readers go on meanwhile, writers wait. Killed at any ' +
    'point, the store is as before or wholly sealed again.',
  examples: [['coffer rekey', 'After removing a slot whose secret may have been copied']],
  async run(session) {
    refuseRemote(session);
    const store = await unlockStore(session);
    const progress = new Progress(session, { bytes: undefined, noun: 'files', besideOutput: false });
    try {
      const files = await rekey(store, { onProgress: (done, total) => progress.show(done, total) });
      progress.end();
      session.say(`Sealed ${files} ${files === 1 ? 'file' : 'files'} again under a new root key.`);
    } finally {
      progress.end();
      store.close();
    }
    return DONE;
  },
};
