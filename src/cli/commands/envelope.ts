import { systemRandom } from '../../ground/random.ts';
import { decryptEnvelope, decryptRange } from '../../transit/envelope/decrypt.ts';
import { encryptEnvelope } from '../../transit/envelope/encrypt.ts';
import type { Command } from '../command.ts';
import { dataKeysOf } from '../envelope/data-keys.ts';
import { decryptedNames, encryptedNames, jobsOf } from '../envelope/jobs.ts';
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
import { textsOption } from '../given.ts';
import { outOption } from '../parse/operation-spec.ts';
import { namedPairs } from '../parse/operation-values.ts';

export const encrypt: Command = {
  arguments: [{ metavar: 'NAME', help: 'The named key.', required: true, offers: 'key' }],
  options: [
    inOption,
    outOption,
    ...severalOptions,
    {
      flag: 'metadata',
      takes: 'values',
      metavar: 'NAME=VALUE',
      help: 'Kept in the header: authenticated, not secret.',
    },
    ...contextOptions,
  ],
  details:
    'The data are encrypted here, under a fresh data key that the named key wraps: any size, constant memory. Several files, ' +
    'or a directory, become files of their own, with ".coffer" at the end of their names.',
  examples: [
    ['coffer transit envelope encrypt orders --in dump.sql --out dump.sql.coffer', 'A file'],
    ['pg_dump shop | coffer transit envelope encrypt orders > shop.coffer', 'A stream'],
    ['coffer transit envelope encrypt orders --in backups --out-dir sealed', 'Every file below a directory'],
  ],
  async run(session, given) {
    const { options } = given;
    const name = namedKey(given) ?? '';
    const metadata = namedPairs('--metadata', textsOption(options, 'metadata'));
    const jobs = jobsOf(options, encryptedNames, session.settings.yes);
    const keys = await dataKeysOf(session, contextOf(options));
    const key = { mount: session.settings.mount, name };
    return transferAll({
      session,
      options,
      jobs,
      mayBeText: false,
      done: 'Encrypted',
      async transfer({ source, sink, onProgress }) {
        const { keyVersion } = await encryptEnvelope({
          key,
          keys,
          random: systemRandom,
          source,
          sink,
          metadata,
          onProgress,
        });
        return { ...key, key_version: keyVersion };
      },
    });
  },
};

export const decrypt: Command = {
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
