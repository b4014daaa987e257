import { version } from '../../ground/version.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { jsonText } from '../terminal/output.ts';

export const command: Command = {
  arguments: [],
  options: [],
  details: 'What coffer --version prints; with -o json, an object with the number alone.',
  examples: [
    ['coffer version', 'Which Coffer this is'],
    ['coffer version -o json', 'The same for a script'],
  ],
  async run({ streams: { out }, settings: { format } }) {
    out.write(format === 'json' ? jsonText({ version }, out.isTerminal) : `coffer ${version}\n`);
    return DONE;
  },
};
