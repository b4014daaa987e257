import { describe, readHeader, requireName } from '../../transit/envelope/envelope.ts';
import { type Command, textOption } from '../command.ts';
import { inOption, inputPath } from '../envelope-streams.ts';
import { DONE } from '../exit-codes.ts';
import { openInFile } from '../in-file.ts';
import { announceStandardInput } from '../input.ts';
import { OUT, outOption } from '../operation-spec.ts';
import { printResult } from '../output.ts';

export const command: Command = {
  arguments: [
    { metavar: 'NAME', help: 'Fail when it was encrypted with another key.', required: false, offers: 'key' },
  ],
  options: [inOption, outOption],
  details: 'Needs no key; so nothing of what it shows is authenticated.',
  examples: [['coffer transit envelope header --in dump.sql.coffer', 'Which key opens this file?']],
  async run(session, { arguments: [name], options }) {
    const from = inputPath(options);
    const file = from === undefined ? undefined : openInFile(from, 'in');
    if (file === undefined) announceStandardInput(session);
    try {
      const header = await readHeader(file ?? session.streams.in);
      requireName(header, name);
      await printResult(session, describe(header), {}, { file: textOption(options, OUT), keepBase64: true });
    } finally {
      file?.close();
    }
    return DONE;
  },
};
