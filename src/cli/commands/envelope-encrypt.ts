import { systemRandom } from '../../random.ts';
import { encryptEnvelope } from '../../transit/envelope/encrypt.ts';
import { type Command, textsOption } from '../command.ts';
import { dataKeysOf, streamOptions, withStreams } from '../envelope-streams.ts';
import { DONE } from '../exit-codes.ts';
import { namedPairs } from '../operation-values.ts';

export const command: Command = {
  arguments: [{ metavar: 'NAME', help: 'The named key.', required: true, offers: 'key' }],
  options: [
    ...streamOptions,
    {
      flag: 'metadata',
      takes: 'values',
      metavar: 'NAME=VALUE',
      help: 'Kept in the header: authenticated, not secret.',
    },
  ],
  details:
    'The data are encrypted here, in pieces, under a fresh data key that the named key wraps. Any size, constant memory.',
  examples: [
    ['coffer transit envelope encrypt orders --in dump.sql --out dump.sql.coffer', 'A file'],
    ['pg_dump shop | coffer transit envelope encrypt orders > shop.coffer', 'A stream'],
  ],
  async run(session, { arguments: [name = ''], options }) {
    const metadata = namedPairs('--metadata', textsOption(options, 'metadata'));
    const runner = await session.runner();
    await withStreams(session, options, ({ source, sink, onProgress }) =>
      encryptEnvelope({
        key: { mount: session.settings.mount, name },
        keys: dataKeysOf(runner),
        random: systemRandom,
        source,
        sink,
        metadata,
        onProgress,
      }),
    );
    return DONE;
  },
};
