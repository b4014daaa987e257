import { generateMasterKey } from '../../store/master-key.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { textOption } from '../given.ts';
import { OUT, outOption } from '../parse/operation-spec.ts';
import { printResult } from '../terminal/output.ts';

export const command: Command = {
  arguments: [],
  options: [outOption],
  details:
    'A master key is 32 random bytes in base64. Put it into COFFER_MASTER_KEY, or into a file for --key-file.',
  examples: [
    ['export COFFER_MASTER_KEY=$(coffer keygen)', 'Keep the key in the environment, e.g. of a pipeline'],
    ['coffer keygen --out master.key', 'Keep it in a file that only you can read'],
  ],
  async run(session, { options }) {
    const data = { master_key: generateMasterKey() };
    const shape = { result: { member: 'master_key', as: 'text' } } as const;
    await printResult(session, data, shape, { file: textOption(options, OUT), keepBase64: true });
    return DONE;
  },
};
