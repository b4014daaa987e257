import { decodeBase64 } from '../base64.ts';
import { CofferError, invalid } from '../errors.ts';
import type { ByteSink, ByteSource, DataKeys, KeyReference } from '../transit/envelope/ports.ts';
import { type Given, type OptionSpec, textOption } from './command.ts';
import { type InFile, openInFile } from './in-file.ts';
import { announceStandardInput } from './input.ts';
import { IN, OUT, outOption } from './operation-spec.ts';
import { openOutFile, refuseSameFile } from './out-file.ts';
import { Progress } from './progress.ts';
import { loadOperation, type Runner } from './runner.ts';
import type { Session } from './session.ts';

const DATA_KEY_BITS = 256;

export const inOption: OptionSpec = {
  flag: IN,
  takes: 'value',
  metavar: 'FILE',
  help: 'The file to read.',
  fallback: 'standard input',
  offers: 'file',
};

export const streamOptions: readonly OptionSpec[] = [inOption, outOption];

/** The two ends of a stream and a line that shows how far it is. */
export interface EnvelopeStreams {
  readonly source: ByteSource;
  /** The file that is read; undefined for standard input. */
  readonly file: InFile | undefined;
  readonly sink: ByteSink;
  readonly onProgress: (bytes: number) => void;
}

/**
 * Opens both ends, runs `work`, and lets the output file appear only when that succeeded.
 * @throws `invalid` when the result would go to a terminal unasked.
 */
export async function withStreams(
  session: Session,
  options: Given['options'],
  work: (streams: EnvelopeStreams) => Promise<unknown>,
): Promise<void> {
  const to = outputPath(session, options);
  const from = inputPath(options);
  refuseSameFile(from, to);
  const file = from === undefined ? undefined : openInFile(from, IN);
  if (file === undefined) announceStandardInput(session);
  const progress = new Progress(session, {
    bytes: file?.bytes,
    noun: 'bytes',
    besideOutput: to === undefined,
  });
  const out = to === undefined ? undefined : openOutFile(to);
  try {
    await work({
      source: file ?? session.streams.in,
      file,
      sink: { write: async (bytes) => (out ?? session.streams.out).write(bytes) },
      onProgress(bytes) {
        progress.bytesRead(bytes);
        progress.done(bytes);
      },
    });
    out?.commit();
  } finally {
    progress.end();
    out?.abort();
    file?.close();
  }
}

/** The file named by `--in`, or undefined for standard input. */
export function inputPath(options: Given['options']): string | undefined {
  const path = textOption(options, IN);
  return path === '-' ? undefined : path;
}

function outputPath(session: Session, options: Given['options']): string | undefined {
  const path = textOption(options, OUT);
  if (path === undefined && session.streams.out.isTerminal && session.settings.format !== 'raw') {
    throw invalid('the result may be binary, and is not written to a terminal', {
      hint: 'use --out FILE, a pipe, or "--out -" if you mean it',
    });
  }
  return path === '-' ? undefined : path;
}

/** The named keys as the envelope needs them, on the local store or a server: only data keys travel. */
export function dataKeysOf(runner: Runner): DataKeys {
  const run = async (
    path: string,
    { mount, name }: KeyReference,
    raw: object,
  ): Promise<Record<string, unknown>> => {
    const { data } = await runner.run(await loadOperation(path), { name, ...raw }, mount);
    return data as Record<string, unknown>;
  };
  return {
    async create(key) {
      const data = await run('transit datakey', key, { type: 'plaintext', bits: DATA_KEY_BITS });
      return { plaintext: decodeBase64(textOf(data, 'plaintext')), wrapped: textOf(data, 'ciphertext') };
    },
    async unwrap(key, ciphertext) {
      return decodeBase64(textOf(await run('transit decrypt', key, { ciphertext }), 'plaintext'));
    },
    async rewrap(key, ciphertext) {
      return textOf(await run('transit rewrap', key, { ciphertext }), 'ciphertext');
    },
  };
}

function textOf(data: Readonly<Record<string, unknown>>, member: string): string {
  const value = data[member];
  if (typeof value === 'string') return value;
  throw new CofferError('unavailable', `the answer has no ${member} in it`);
}
