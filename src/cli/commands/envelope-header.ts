import type { Table } from '../../operations/declaration/operation.ts';
import { decryptRange, payloadOf } from '../../transit/envelope/decrypt.ts';
import {
  describe,
  type EnvelopeDescription,
  openHeader,
  readHeader,
  requireName,
} from '../../transit/envelope/envelope.ts';
import type { ByteSource, DataKeys, RandomAccessSource } from '../../transit/envelope/ports.ts';
import type { Command } from '../command.ts';
import { dataKeysOf } from '../envelope/data-keys.ts';
import { decryptedNames, type InputFile, inputsOf } from '../envelope/jobs.ts';
import { contextOf, contextOptions, expectedKey, inOption, namedKey } from '../envelope/options.ts';
import { DONE } from '../exit-codes.ts';
import { openInFile } from '../files/in-file.ts';
import { announceStandardInput } from '../files/input.ts';
import { textOption } from '../given.ts';
import { switching } from '../parse/everywhere.ts';
import { IN, OUT, outOption } from '../parse/operation-spec.ts';
import type { Session } from '../session.ts';
import { printResult } from '../terminal/output.ts';

const VERIFY = 'verify';

export const command: Command = {
  arguments: [expectedKey],
  options: [
    inOption,
    outOption,
    switching(VERIFY, 'Authenticate what is shown; needs the key.'),
    ...contextOptions,
  ],
  details:
    'Without --verify no key is needed, and nothing of what is shown is authenticated. With it, the header is, and of a file ' +
    'also the end, hence the size; the data are not read.',
  examples: [
    ['coffer transit envelope header --in dump.sql.coffer', 'Which key opens this file?'],
    [
      'coffer transit envelope header --in backups --verify -o json',
      'Everything below a directory, for a script',
    ],
  ],
  async run(session, given) {
    const { options } = given;
    const name = namedKey(given);
    const inputs = inputsOf(options, decryptedNames.isMeant);
    const keys = options.has(VERIFY) ? await dataKeysOf(session, contextOf(options), name) : undefined;
    const headers: Header[] = [];
    for (const input of inputs) headers.push(await headerOf(session, input, name, keys));
    const one = headers.length === 1;
    const data = one ? headers[0] : { files: headers };
    const shape = one ? {} : { table: () => tableOf(headers) };
    await printResult(session, data, shape, { file: textOption(options, OUT), keepBase64: true });
    return DONE;
  },
};

type Header = ReturnType<typeof headerJson>;

async function headerOf(
  session: Session,
  { path }: InputFile,
  name: string | undefined,
  keys: DataKeys | undefined,
): Promise<Header> {
  const file = path === undefined ? undefined : openInFile(path, IN);
  if (file === undefined) announceStandardInput(session);
  try {
    const bytes = file?.bytes;
    const found =
      keys !== undefined && file !== undefined && bytes !== undefined
        ? await verifiedFile({ ...file, size: bytes }, name, keys)
        : await readFrom(file ?? session.streams.in, bytes, name, keys);
    return headerJson(path ?? '-', found, keys !== undefined);
  } finally {
    file?.close();
  }
}

interface Found extends EnvelopeDescription {
  readonly size: number | undefined;
}

/** Asks for nothing of the data, but an empty range proves the end of the file as well. */
const verifiedFile = (file: RandomAccessSource, name: string | undefined, keys: DataKeys): Promise<Found> =>
  decryptRange({
    file,
    keys,
    range: { offset: 0, length: 0 },
    sink: { write: () => Promise.resolve() },
    ...(name === undefined ? {} : { name }),
  });

async function readFrom(
  source: ByteSource,
  bytes: number | undefined,
  name: string | undefined,
  keys: DataKeys | undefined,
): Promise<Found> {
  const header = await readHeader(source);
  requireName(header, name);
  if (keys !== undefined) await openHeader(header, keys, name);
  const size =
    bytes === undefined ? undefined : payloadOf(bytes - header.payload, header.sealed.chunkBytes).size;
  return { ...describe(header), size };
}

/** The version is null for a wrapped data key of an unknown form, the size of what comes through a pipe. */
const headerJson = (path: string, found: Found, verified: boolean) => ({
  in: path,
  format: found.format,
  algorithm: found.algorithm,
  mount: found.mount,
  name: found.name,
  key_version: found.keyVersion ?? null,
  ciphertext: found.wrapped,
  chunk_size: found.chunkBytes,
  metadata: found.metadata,
  size: found.size ?? null,
  verified,
});

const tableOf = (headers: readonly Header[]): Table => ({
  head: ['File', 'Mount', 'Key', 'Version', 'Size', 'Metadata'],
  rows: headers.map((header) => [
    header.in,
    header.mount,
    header.name,
    String(header.key_version ?? ''),
    String(header.size ?? ''),
    Object.entries(header.metadata)
      .map((pair) => pair.join('='))
      .join(' '),
  ]),
});
