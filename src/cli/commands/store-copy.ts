import { copyStore } from '../../store/administration/copy.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { locationForms, locationFrom, printLocation } from '../../store/backends/registry.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { variable } from '../given.ts';
import { refuseRemote } from '../refuse-remote.ts';
import { printResult } from '../terminal/output.ts';
import { Progress } from '../terminal/progress.ts';

const PLACE = `a ${locationForms}`;

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
    const locationOf = (text: string): Location =>
      locationFrom(text, (name) => variable(session.environment, name));
    const target = locationOf(to);
    try {
      const summary = await copyStore({
        from: locationOf(from),
        to: target,
        onProgress: (done, total) => progress.show(done, total),
      });
      progress.end();
      if (session.settings.format === 'json') {
        await printResult(session, summary, {}, { file: undefined, keepBase64: true });
      }
      session.say(`Copied ${summary.files} files to ${await printLocation(target)}.`);
    } finally {
      progress.end();
    }
    return DONE;
  },
};
