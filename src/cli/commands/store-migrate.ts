import { migrateAt, printLocation } from '../../store/backends/registry.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { refuseRemote } from '../refuse-remote.ts';
import { printDocument } from '../terminal/output.ts';

export const command: Command = {
  arguments: [],
  options: [],
  details:
    'To be run by a role that may make and alter tables; everything else needs only to read and change rows. Does nothing ' +
    'when the tables are of this version already, and nothing to a directory.',
  examples: [
    [
      'coffer store migrate --store postgres://owner@db.example.com/coffer',
      'After installing a Coffer that needs newer tables',
    ],
  ],
  async run(session) {
    refuseRemote(session);
    const location = session.settings.storeDirectory;
    const migration = (await migrateAt(location)) ?? { from: 0, to: 0 };
    await printDocument(session, migration);
    const { from, to } = migration;
    const place = await printLocation(location);
    if (from === to) session.say(`There is nothing to do in ${place}.`);
    else if (from === 0) session.say(`Made the tables in ${place}, version ${to}.`);
    else session.say(`Brought the tables in ${place} from version ${from} to ${to}.`);
    return DONE;
  },
};
