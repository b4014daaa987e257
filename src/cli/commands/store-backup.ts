import { backupStore } from '../../store/administration/backup.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { refuseRemote } from '../refuse-remote.ts';
import { printDocument } from '../terminal/output.ts';

export const command: Command = {
  arguments: [
    { metavar: 'FILE', help: 'The file to make; it must not exist yet.', required: true, offers: 'file' },
  ],
  options: [],
  details:
    'The backup is the store as it is at one moment, even while others write. It stays sealed: it opens with the same secrets.',
  examples: [['coffer store backup coffer.backup', 'One file, mode 0600, written whole or not at all']],
  async run(session, { arguments: [file = ''] }) {
    refuseRemote(session);
    const summary = await backupStore({ directory: session.settings.storeDirectory, to: file });
    await printDocument(session, summary);
    session.say(`Wrote ${summary.files} files to ${file}.`);
    return DONE;
  },
};
