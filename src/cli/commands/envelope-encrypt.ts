import { systemRandom } from '../../ground/random.ts';
import { encryptEnvelope } from '../../transit/envelope/encrypt.ts';
import type { Command } from '../command.ts';
import { dataKeysOf } from '../envelope/data-keys.ts';
import { encryptedNames, jobsOf } from '../envelope/jobs.ts';
import { contextOf, contextOptions, inOption, namedKey, severalOptions } from '../envelope/options.ts';
import { transferAll } from '../envelope/transfer.ts';
import { textsOption } from '../given.ts';
import { outOption } from '../parse/operation-spec.ts';
import { namedPairs } from '../parse/operation-values.ts';

export const command: Command = {
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
