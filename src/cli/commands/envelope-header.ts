import { closing } from '../../ground/errors.ts';
import type { Table } from '../../operations/declaration/table.ts';
import { isAge } from '../../transit/envelope/age/detect.ts';
import type { AgeIdentity } from '../../transit/envelope/age/recipients.ts';
import { decryptRange, payloadOf } from '../../transit/envelope/decrypt.ts';
import { describe, openHeader, readHeader, requireName } from '../../transit/envelope/envelope.ts';
import { type ByteSink, type ByteSource, type DataKeys, Lookahead } from '../../transit/envelope/ports.ts';
import { type OwnCommand, switching } from '../command.ts';
import { openingOptions, refuseIdentities } from '../envelope/age-options.ts';
import { decryptedNames, type InputFile, inputsOf, openingOf } from '../envelope/jobs.ts';
import { aboutFile, aboutStandardInput } from '../envelope/not-an-envelope.ts';
import { contextOptions, expectedKey, inOption, namingTyped } from '../envelope/options.ts';
import { type InFile, openInFile } from '../files/in-file.ts';
import { announceStandardInput } from '../files/input.ts';
import { outPlaceOf } from '../files/out-file.ts';
import { printResult } from '../files/output.ts';
import type { Given } from '../given.ts';
import { IN, outOptions } from '../parse/operation-spec.ts';
import type { Session } from '../session.ts';

const VERIFY = 'verify';

export const command: OwnCommand = {
  arguments: [expectedKey],
  options: [
    inOption,
    ...outOptions,
    switching(VERIFY, 'Authenticate the header; needs the key.'),
    ...openingOptions,
    ...contextOptions,
  ],
  details:
    'Needs no key, but shows the header unchecked: an attacker may have changed it. With --verify, uses the key ' +
    'to check the header and, except on standard input, the size of the file; the data itself is not checked. ' +
    'For files in the age format, the recipient types are shown.',
  examples: [
    ['coffer transit envelope header --in dump.sql.coffer', 'Show which key a file is encrypted with'],
    [
      'coffer transit envelope header --in backups --verify -o json',
      'Verify all files in a directory, print JSON',
    ],
  ],
  async run(session, typed) {
    const { options, name, ...ways } = await openingOf(session, typed, 'header');
    const inputs = await namingTyped(typed, async () => inputsOf(options, decryptedNames.isMeant));
    const file = await outPlaceOf(session, options);
    const { keys, identities } = options.has(VERIFY) ? ways : {};
    const headers: HeaderJson[] = [];
    for (const input of inputs) {
      const header = await headerOf(session, input, { name, options, keys, identities }).catch(
        (error: unknown) => {
          throw input.path === undefined
            ? aboutStandardInput(error, 'header', name)
            : aboutFile(error, input.path);
        },
      );
      headers.push(header);
    }
    const one = headers.length === 1;
    const data = one ? headers[0] : { files: headers };
    const shape = one ? {} : { table: () => tableOf(headers) };
    await printResult(session, data, shape, { file, keepBase64: true });
  },
};

type HeaderJson = Awaited<ReturnType<typeof headerOf>>;

/** Way in which headers are authenticated, if they are. */
interface HeaderVerification {
  readonly name: string | undefined;
  readonly options: Given['options'];
  readonly keys: (() => Promise<DataKeys>) | undefined;
  readonly identities: (() => Promise<readonly AgeIdentity[]>) | undefined;
}

async function headerOf(session: Session, { path }: InputFile, verifying: HeaderVerification) {
  if (path === undefined) announceStandardInput(session);
  return closing(path === undefined ? undefined : openInFile(path, IN), async (file) => {
    const source = new Lookahead(file ?? session.streams.in);
    const reading = (await isAge(source)) ? ageHeaderOf : ownHeaderOf;
    return { in: path ?? '-', ...(await reading(source, file, verifying)) };
  });
}

const NOTHING = { offset: 0, length: 0 };
const nowhere: ByteSink = { write: () => Promise.resolve() };

/** Formats the header of an age file. For most recipient types, only their presence is known, not their identity. */
async function ageHeaderOf(source: Lookahead, file: InFile | undefined, { identities }: HeaderVerification) {
  const age = await import('../../transit/envelope/age/file.ts');
  const opened = await age.readAge(source);
  const bytes = opened.armor ? undefined : file?.bytes;
  if (identities !== undefined) {
    const request = { identities: await identities(), sink: nowhere, range: NOTHING };
    if (file !== undefined && bytes !== undefined)
      await age.decryptAgeRange({ ...file, size: bytes }, request);
    else await age.openAge(opened, request.identities);
  }
  return {
    format: 'age',
    armor: opened.armor,
    recipients: opened.header.stanzas.map(({ type, args }) => ({ type, args })),
    size: bytes === undefined ? null : age.agePlaintextBytes(opened, bytes),
    verified: identities !== undefined,
  };
}

/**
 * Formats the header of an envelope. The version is null for a wrapped data key of unknown form, the size for a pipe.
 */
async function ownHeaderOf(
  source: Lookahead,
  file: InFile | undefined,
  { name, options, keys: keysOf }: HeaderVerification,
) {
  refuseIdentities(options);
  const keys = await keysOf?.();
  const bytes = file?.bytes;
  const found =
    keys !== undefined && file !== undefined && bytes !== undefined
      ? // An empty range also authenticates the end of the file, without decrypting its data.
        await decryptRange({ file: { ...file, size: bytes }, keys, range: NOTHING, sink: nowhere, name })
      : await readFrom(source, bytes, name, keys);
  return {
    format: found.format,
    algorithm: found.algorithm,
    mount: found.mount,
    name: found.name,
    key_version: found.keyVersion ?? null,
    ciphertext: found.wrapped,
    chunk_size: found.chunkBytes,
    metadata: found.metadata,
    size: found.size ?? null,
    verified: keys !== undefined,
  };
}

async function readFrom(
  source: ByteSource,
  bytes: number | undefined,
  name: string | undefined,
  keys: DataKeys | undefined,
) {
  const header = await readHeader(source);
  requireName(header, name);
  if (keys !== undefined) await openHeader(header, keys, name);
  const size =
    bytes === undefined ? undefined : payloadOf(bytes - header.payload, header.sealed.chunkBytes).size;
  return { ...describe(header), size };
}

const tableOf = (headers: readonly HeaderJson[]): Table => ({
  head: ['File', 'Mount', 'Key', 'Version', 'Size', 'Metadata'],
  rows: headers.map((header) => {
    const size = String(header.size ?? '');
    if ('recipients' in header)
      return [header.in, '', `age: ${header.recipients.map(({ type }) => type).join(', ')}`, '', size, ''];
    const { mount, name, key_version: version, metadata } = header;
    const pairs = Object.entries(metadata).map((pair) => pair.join('='));
    return [header.in, mount, name, String(version ?? ''), size, pairs.join(' ')];
  }),
});
