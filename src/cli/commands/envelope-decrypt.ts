import { invalid } from '../../errors.ts';
import { decryptEnvelope } from '../../transit/envelope/decrypt.ts';
import type { ByteRange } from '../../transit/envelope/window.ts';
import { type Command, type Given, textOption } from '../command.ts';
import { dataKeysOf, streamOptions, withStreams } from '../envelope-streams.ts';
import { DONE } from '../exit-codes.ts';

export const command: Command = {
  arguments: [
    { metavar: 'NAME', help: 'The named key that it was encrypted with.', required: true, offers: 'key' },
  ],
  options: [
    ...streamOptions,
    { flag: 'offset', takes: 'value', metavar: 'BYTES', help: 'Leave out so many bytes at the start.' },
    { flag: 'length', takes: 'value', metavar: 'BYTES', help: 'Write so many bytes at most.' },
  ],
  details:
    'Nothing is written that was not authenticated. With --out the file appears only when everything was; a pipe gets the ' +
    'true beginning, and the exit code tells whether it was all.',
  examples: [
    ['coffer transit envelope decrypt orders --in dump.sql.coffer --out dump.sql', 'A file'],
    ['coffer transit envelope decrypt orders < shop.coffer | psql shop', 'A stream'],
  ],
  async run(session, { arguments: [name = ''], options }) {
    const range = rangeOf(options);
    const runner = await session.runner();
    await withStreams(session, options, ({ source, sink, onProgress }) =>
      decryptEnvelope({
        keys: dataKeysOf(runner),
        source,
        sink,
        name,
        onProgress,
        ...(range === undefined ? {} : { range }),
      }),
    );
    return DONE;
  },
};

function rangeOf(options: Given['options']): ByteRange | undefined {
  const offset = byteCount(options, 'offset');
  const length = byteCount(options, 'length');
  if (offset === undefined && length === undefined) return undefined;
  return { offset: offset ?? 0, ...(length === undefined ? {} : { length }) };
}

function byteCount(options: Given['options'], flag: string): number | undefined {
  const text = textOption(options, flag);
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalid(`"${text}" can't be right`, { field: `--${flag}`, hint: 'give a number of bytes' });
}
