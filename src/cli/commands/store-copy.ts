import { copyStore } from '../../store/administration/copy.ts';
import { printLocation } from '../../store/backends/registry.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { refuseRemote } from '../refuse-remote.ts';
import { storeLocation } from '../store-location.ts';
import { printDocument } from '../terminal/output.ts';
import { Progress } from '../terminal/progress.ts';

const PLACE = 'a directory, or postgres://USER@HOST/DATABASE';

export const command: Command = {
  arguments: [
    { metavar: 'FROM', help: `The store: ${PLACE}.`, required: true, offers: 'directory' },
    { metavar: 'TO', help: `Where no store is yet: ${PLACE}.`, required: true, offers: 'directory' },
  ],
  options: [],
  details:
    'The copy stays sealed: no secret is needed, and the same secrets open it. It is compared with the original before it ' +
    'counts as a store. When it is cut short, the same command goes on from there. Stop what writes to FROM first, and use ' +
    'only one of the two afterwards.',
  examples: [
    ['coffer store copy ./store postgres://coffer@db.example.com/coffer', 'From one machine to a fleet'],
    ['coffer store copy postgres://coffer@db.example.com/coffer ./store', 'And back'],
  ],
  async run(session, { arguments: [from = '', to = ''] }) {
    refuseRemote(session);
    const progress = new Progress(session, { bytes: undefined, noun: 'files', besideOutput: false });
    const target = storeLocation(to, session.environment);
    try {
      const summary = await copyStore({
        from: storeLocation(from, session.environment),
        to: target,
        onProgress: (done, total) => progress.show(done, total),
      });
      progress.end();
      await printDocument(session, summary);
      session.say(`Copied ${summary.files} files to ${await printLocation(target)}.`);
    } finally {
      progress.end();
    }
    return DONE;
  },
};
