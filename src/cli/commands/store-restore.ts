import { restoreStore } from '../../store/administration/backup.ts';
import { printLocation } from '../../store/backends/registry.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { refuseRemote } from '../refuse-remote.ts';
import { printDocument } from '../terminal/output.ts';

export const command: Command = {
  arguments: [
    { metavar: 'FILE', help: 'A file made by "coffer store backup".', required: true, offers: 'file' },
  ],
  options: [],
  details:
    "There must be no store yet, and nothing else in the directory. The store's secrets are those of the time of the backup.",
  examples: [['coffer store restore coffer.backup --store ./restored', 'Bring it back beside the old one']],
  async run(session, { arguments: [file = ''] }) {
    refuseRemote(session);
    const directory = session.settings.storeDirectory;
    const summary = await restoreStore({ from: file, directory });
    await printDocument(session, summary);
    session.say(`Restored ${summary.files} files to ${await printLocation(directory)}.`);
    return DONE;
  },
};
