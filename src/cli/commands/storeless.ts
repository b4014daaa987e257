import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { version as number } from '../../ground/version.ts';
import { diskError } from '../../store/backends/files/disk-errors.ts';
import { generateMasterKey } from '../../store/master-key.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { outPlaceOf } from '../files/out-file.ts';
import { jsonText, printResult } from '../files/output.ts';
import { outOptions } from '../parse/operation-spec.ts';

export const keygen: Command = {
  arguments: [],
  options: outOptions,
  details:
    'A master key is 32 random bytes in base64. Put it into COFFER_MASTER_KEY, or into a file for --key-file.',
  examples: [
    ['export COFFER_MASTER_KEY=$(coffer keygen)', 'Keep the key in the environment, e.g. of a pipeline'],
    ['coffer keygen --out master.key', 'Keep it in a file that only you can read'],
  ],
  async run(session, { options }) {
    const file = await outPlaceOf(session, options);
    const data = { master_key: generateMasterKey() };
    const shape = { result: { member: 'master_key', as: 'text' } } as const;
    await printResult(session, data, shape, { file, keepBase64: true });
    return DONE;
  },
};

export const version: Command = {
  arguments: [],
  options: [
    {
      flag: 'licenses',
      takes: 'nothing',
      help: 'The licenses of what others made of it, instead of the version.',
    },
  ],
  details: 'What coffer --version prints; with -o json, an object with the number alone.',
  examples: [
    ['coffer version', 'Which Coffer this is'],
    ['coffer version -o json', 'The same for a script'],
    ['coffer version --licenses | less', 'Under which licenses its parts are, word by word'],
  ],
  async run({ streams: { out }, settings: { format } }, { options }) {
    const isJson = format === 'json';
    if (options.has('licenses')) {
      const licenses = thirdPartyLicenses();
      out.write(isJson ? jsonText({ licenses }, out.isTerminal) : licenses);
    } else {
      out.write(isJson ? jsonText({ version: number }, out.isTerminal) : `coffer ${number}\n`);
    }
    return DONE;
  },
};

const LICENSES = 'THIRD-PARTY-LICENSES';

/** Returns the third-party licences. The file is made by the bundler; in the single executable it is an asset. */
function thirdPartyLicenses(): string {
  const sea = process.getBuiltinModule('node:sea');
  if (sea.isSea()) return sea.getAsset(LICENSES, 'utf8');
  const [, program = ''] = process.argv;
  const file = join(dirname(realpathSync(program)), '..', 'dist', LICENSES);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw diskError(error, 'read', file);
  }
}
