import { decryptEnvelope } from '../../transit/envelope/decrypt.ts';
import { decryptRange } from '../../transit/envelope/range.ts';
import type { Command } from '../command.ts';
import { dataKeysOf } from '../envelope/data-keys.ts';
import { decryptedNames, jobsOf } from '../envelope/jobs.ts';
import {
  contextOf,
  contextOptions,
  expectedKey,
  inOption,
  namedKey,
  rangeOf,
  rangeOptions,
  severalOptions,
} from '../envelope/options.ts';
import { transferAll } from '../envelope/transfer.ts';
import { outOption } from '../parse/operation-spec.ts';

export const command: Command = {
  arguments: [expectedKey],
  options: [inOption, outOption, ...severalOptions, ...rangeOptions, ...contextOptions],
  details:
    'Nothing is written that was not authenticated. With --out the file appears only when everything was; a pipe gets a true ' +
    'beginning of the data, and only exit code 0 says that it was all. With --offset or --length only the needed part of a ' +
    'file is read, so whether the rest was changed is not seen.',
  examples: [
    [
      'coffer transit envelope decrypt --in dump.sql.coffer --out dump.sql',
      'A file; its header names the key',
    ],
    ['coffer transit envelope decrypt orders < shop.coffer | psql shop', 'A stream, and only under this key'],
    [
      'coffer transit envelope decrypt --in disk.coffer --offset 1048576 --length 512',
      'A part of a large file',
    ],
  ],
  async run(session, given) {
    const { options } = given;
    const name = namedKey(given);
    const range = rangeOf(options);
    const jobs = jobsOf(options, decryptedNames, session.settings.yes);
    const keys = await dataKeysOf(session, contextOf(options), name);
    const expected = name === undefined ? {} : { name };
    return transferAll({
      session,
      options,
      jobs,
      mayBeText: true,
      done: 'Decrypted',
      async transfer({ source, file, sink, onProgress }) {
        const common = { keys, sink, onProgress, ...expected };
        const header =
          range !== undefined && file !== undefined
            ? await decryptRange({ ...common, file, range })
            : await decryptEnvelope({ ...common, source, ...(range === undefined ? {} : { range }) });
        const { mount, keyVersion, metadata } = header;
        return { mount, name: header.name, key_version: keyVersion, metadata };
      },
    });
  },
};
