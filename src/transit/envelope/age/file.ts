import { createSecretKey, type KeyObject } from 'node:crypto';
import { wipe, wiping } from '../../../ground/bytes.ts';
import { type CofferError, denied, invalid } from '../../../ground/errors.ts';
import type { Random } from '../../../ground/random.ts';
import { AGE_CIPHER } from '../../key-types/age/kem.ts';
import { type ChunkStage, decryption, encryption } from '../chunk-cipher.ts';
import { type ByteRange, decryptPayload, decryptPayloadRange, payloadOf } from '../decrypt.ts';
import {
  type ByteSink,
  type ByteSource,
  Lookahead,
  type OnProgress,
  type RandomAccessSource,
  readExactly,
  sequential,
} from '../ports.ts';
import { pump } from '../pump.ts';
import { damaged, truncated } from '../refusals.ts';
import { BEGIN, isArmored, MAX_BLANK_BYTES } from './detect.ts';
import {
  type AgeHeader,
  derivedKey,
  FILE_KEY_BYTES,
  printAgeHeader,
  readAgeHeader,
  requireAuthentic,
  type Stanza,
} from './header.ts';
import { SCRYPT } from './passphrase.ts';
import type { AgeIdentity, AnyRecipient, RecipientGroup } from './recipients.ts';

/** Armored age file: strict PEM (RFC 7468) of one label, without headers. */

const END = '-----END AGE ENCRYPTED FILE-----';
const COLUMNS = 64;
const LINE_BYTES = 48;
/** Number of lines decoded at once. */
const LINES = 1024;
const MAX_LINE = 256;

/**
 * Decodes armored text.
 * @throws `inauthentic` if it is truncated or malformed
 */
export function dearmored(text: Lookahead): ByteSource {
  let isBegun = false;
  let isEnded = false;
  let isLastLine = false;
  let ready: Buffer = Buffer.alloc(0);
  const line = async (): Promise<string> => {
    const found = (await text.line(MAX_LINE)) ?? (await lastLine(text));
    return found.endsWith('\r') ? found.slice(0, -1) : found;
  };
  const begin = async (): Promise<void> => {
    let first = await line();
    for (
      let blank = first.length;
      first.trim() === '' && blank < MAX_BLANK_BYTES;
      blank += first.length + 1
    ) {
      first = await line();
    }
    if (first.trimStart() !== BEGIN) throw broken();
    isBegun = true;
  };
  const more = async (): Promise<Buffer> => {
    const parts: string[] = [];
    while (parts.length < LINES && !isEnded) {
      const next = await line();
      if (next.trimEnd() === END) {
        isEnded = true;
        await requireBlank(text);
        break;
      }
      if (isLastLine || next.length > COLUMNS || next === '') throw broken();
      isLastLine = next.length < COLUMNS || next.endsWith('=');
      parts.push(next);
    }
    const joined = parts.join('');
    const bytes = Buffer.from(joined, 'base64');
    if (bytes.toString('base64') !== joined) throw broken();
    return bytes;
  };
  return {
    mayStall: text.mayStall,
    expectedBytes: text.expectedBytes,
    async read(into) {
      if (!isBegun) await begin();
      while (ready.length === 0) {
        if (isEnded) return 0;
        ready = await more();
      }
      const bytes = Math.min(into.length, ready.length);
      into.set(ready.subarray(0, bytes));
      ready = ready.subarray(bytes);
      return bytes;
    },
  };
}

/** Reads a last line without a newline. */
async function lastLine(text: Lookahead): Promise<string> {
  const rest = await text.peek(MAX_LINE + 1);
  if (rest.length === 0 || rest.length > MAX_LINE) throw broken();
  const line = rest.toString('latin1');
  await text.read(Buffer.alloc(line.length));
  return line;
}

async function requireBlank(text: Lookahead): Promise<void> {
  const rest = await text.peek(MAX_BLANK_BYTES);
  if (rest.length === MAX_BLANK_BYTES || rest.toString('latin1').trim() !== '') throw broken();
}

const broken = () => damaged('its ASCII armor is truncated or malformed');

/** Encodes bytes as armored text. `end` must be called after the last of them. */
export function armored(sink: ByteSink): ByteSink & { end(): Promise<void> } {
  let isBegun = false;
  let held: Buffer = Buffer.alloc(0);
  const print = async (bytes: Uint8Array): Promise<void> => {
    const text = Buffer.from(bytes).toString('base64');
    const start = isBegun ? '' : `${BEGIN}\n`;
    isBegun = true;
    await sink.write(Buffer.from(start + text.replace(/.{1,64}/g, '$&\n'), 'latin1'));
  };
  return {
    async write(bytes) {
      const all = Buffer.concat([held, bytes]);
      const whole = all.length - (all.length % LINE_BYTES);
      await print(all.subarray(0, whole));
      held = all.subarray(whole);
    },
    async end() {
      if (held.length > 0) await print(held);
      await sink.write(Buffer.from(`${END}\n`, 'latin1'));
    },
  };
}

/** Files in the age format. The payload is chunked like Coffer's own envelopes. */

const CHUNK_BYTES = 64 * 1024;
const NONCE_BYTES = 16;

/**
 * Checks that the recipients can share one file.
 * @throws `invalid` if they cannot
 */
export function requireTogether(
  recipients: readonly { readonly group?: RecipientGroup | undefined }[],
): void {
  const groups = new Set(recipients.flatMap(({ group }) => group ?? []));
  if (groups.has('passphrase') && recipients.length > 1) {
    throw invalid('a file encrypted with a passphrase cannot have other recipients', { field: 'recipient' });
  }
  if (groups.size <= 1) return;
  if ([...groups].every((group) => group === 'post-quantum' || group === 'classical')) {
    throw invalid('post-quantum and classic recipients cannot be mixed in one file', {
      field: 'recipient',
      hint: 'use age1pq… recipients for all, or for none',
    });
  }
  throw invalid('a plugin does not allow its recipient to be mixed with the others in one file', {
    field: 'recipient',
    hint: 'encrypt a separate file for each recipient',
  });
}

async function headerFor(recipients: readonly AnyRecipient[], fileKey: Uint8Array): Promise<Buffer> {
  requireTogether(recipients);
  const wrapped: { readonly group: RecipientGroup; readonly stanzas: readonly Stanza[] }[] = [];
  for (const recipient of recipients) {
    // One after the other, because programs may ask the user.
    const some =
      recipient.group === undefined
        ? await recipient.wrapAll(fileKey)
        : { group: recipient.group, stanzas: [await recipient.wrap(fileKey)] };
    wrapped.push(some);
  }
  requireTogether(wrapped);
  return printAgeHeader(
    wrapped.flatMap(({ stanzas }) => stanzas),
    fileKey,
  );
}

const payloadKey = (fileKey: Uint8Array, nonce: Uint8Array): KeyObject =>
  wiping(derivedKey(fileKey, nonce, 'payload'), createSecretKey);

export interface AgeEncryption {
  /** Recipients; at least one. */
  readonly recipients: readonly AnyRecipient[];
  readonly armor: boolean;
  readonly random: Random;
  readonly source: ByteSource;
  readonly sink: ByteSink;
  readonly onProgress?: OnProgress;
}

/**
 * Encrypts a stream of any length into an age file.
 * @throws `invalid`; nothing is written then
 */
export async function encryptAge(request: AgeEncryption): Promise<void> {
  const { recipients, random, source, onProgress } = request;
  const fileKey = random.bytes(FILE_KEY_BYTES);
  const nonce = random.bytes(NONCE_BYTES);
  const header = await headerFor(recipients, fileKey);
  const key = payloadKey(fileKey, nonce);
  wipe(fileKey);
  await written(request.sink, request.armor, async (sink) => {
    await sink.write(Buffer.concat([header, nonce]));
    await pump(source, sink, encryption(key, CHUNK_BYTES, AGE_CIPHER), onProgress);
  });
}

async function written(
  sink: ByteSink,
  armor: boolean,
  work: (sink: ByteSink) => Promise<void>,
): Promise<void> {
  if (!armor) return work(sink);
  const text = armored(sink);
  await work(text);
  await text.end();
}

/** Age file whose header was read. */
interface AgeFile {
  readonly header: AgeHeader;
  readonly armor: boolean;
  /** Length of the header, in bytes, which is where the nonce begins. */
  readonly headerBytes: number;
  /** Bytes after the header. */
  readonly rest: ByteSource;
}

/**
 * Reads the header of a file.
 * @throws `corrupt`, `inauthentic`
 */
export async function readAge(source: Lookahead): Promise<AgeFile> {
  const armor = await isArmored(source);
  const rest = armor ? new Lookahead(dearmored(source)) : source;
  const header = await readAgeHeader(rest);
  if (header.stanzas.length > 1 && header.stanzas.some(({ type }) => type === SCRYPT)) {
    throw damaged('it has a passphrase and other recipients, which cannot be combined');
  }
  return { header, armor, headerBytes: rest.taken, rest };
}

/**
 * Unwraps the file key and authenticates the header; the caller overwrites the key.
 * @throws `denied` if no identity matches, or the header was changed
 */
export async function openAge({ header }: AgeFile, identities: readonly AgeIdentity[]): Promise<Buffer> {
  for (const identity of identities) {
    const fileKey = await identity.unwrap(header.stanzas);
    if (fileKey === undefined) continue;
    requireAuthentic(header, fileKey);
    return fileKey;
  }
  throw noneOpens(header);
}

function noneOpens({ stanzas }: AgeHeader): CofferError {
  const isPassphrase = stanzas[0]?.type === SCRYPT;
  return denied(isPassphrase ? 'wrong passphrase' : 'no matching key for this file', {
    hint: isPassphrase
      ? 'try again'
      : 'use a key that the file is encrypted for: a key of the store, or a private key with --identity',
  });
}

async function stageOf(file: AgeFile, identities: readonly AgeIdentity[]): Promise<ChunkStage> {
  const fileKey = await openAge(file, identities);
  const nonce = await readExactly(file.rest, NONCE_BYTES);
  if (nonce.length < NONCE_BYTES) throw truncated();
  const key = wiping(fileKey, () => payloadKey(fileKey, nonce));
  return decryption(key, CHUNK_BYTES, AGE_CIPHER);
}

interface AgeDecryption {
  readonly identities: readonly AgeIdentity[];
  readonly sink: ByteSink;
  readonly range?: ByteRange | undefined;
  readonly onProgress?: OnProgress;
}

/**
 * Decrypts the payload of a file.
 * @throws as {@link openAge}; `inauthentic` if any byte was changed, removed, moved or added
 */
export async function decryptAge(file: AgeFile, request: AgeDecryption): Promise<void> {
  const stage = await stageOf(file, request.identities);
  const { sink, range, onProgress } = request;
  await decryptPayload({
    source: file.rest,
    sink,
    stage,
    range,
    onProgress,
  });
}

/**
 * Decrypts a part of a file that is not armored, without reading the rest.
 * @returns the plaintext size of the whole file, in bytes
 */
export async function decryptAgeRange(
  file: RandomAccessSource,
  request: AgeDecryption & { readonly range: ByteRange },
): Promise<number> {
  const opened = await readAge(new Lookahead(sequential(file)));
  const stage = await stageOf(opened, request.identities);
  return decryptPayloadRange({ ...request, file, start: opened.headerBytes + NONCE_BYTES, stage });
}

/**
 * Computes the plaintext size of a file that is not armored, in bytes, from its size.
 * @throws `inauthentic` for an impossible size
 */
export const agePlaintextBytes = ({ headerBytes }: AgeFile, fileBytes: number): number =>
  payloadOf(fileBytes - headerBytes - NONCE_BYTES, CHUNK_BYTES).size;

/**
 * Rewrites a file for other recipients. The payload and the file key stay the same: anyone who could open the old file
 * and kept it, or its file key, still can.
 * @throws as {@link openAge}; nothing is written then
 * @see docs/decisions/0164
 */
export async function rewrapAge(
  file: AgeFile,
  identities: readonly AgeIdentity[],
  recipients: readonly AnyRecipient[],
  sink: ByteSink,
): Promise<void> {
  const fileKey = await openAge(file, identities);
  const header = await headerFor(recipients, fileKey);
  wipe(fileKey);
  await written(sink, file.armor, async (out) => {
    await out.write(header);
    await pump(file.rest, out, unchanged);
  });
}

const unchanged: ChunkStage = {
  inputBytes: CHUNK_BYTES,
  outputBytes: CHUNK_BYTES,
  transform(chunk, _index, _final, out) {
    out.set(chunk);
    return chunk.length;
  },
};
