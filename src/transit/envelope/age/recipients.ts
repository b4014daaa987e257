import { wipe } from '../../../ground/bytes.ts';
import { invalid } from '../../../ground/errors.ts';
import type { Random } from '../../../ground/random.ts';
import { parseBech32, printBech32 } from '../../key-types/age/bech32.ts';
import { type AgeKem, SECRET_BYTES, type SealedSecret } from '../../key-types/age/kem.ts';
import { taggedKems } from '../../key-types/age/tagged.ts';
import { xWingKem } from '../../key-types/age/x-wing.ts';
import { x25519Kem } from '../../key-types/age/x25519.ts';
import type { MaybePromise } from '../../key-types/key-type.ts';
import { TAG_BYTES } from '../chunk-cipher.ts';
import { damaged } from '../refusals.ts';
import { FILE_KEY_BYTES, printUnpadded, type Stanza, unpadded } from './header.ts';

/** Recipient that a file is encrypted to. */
export interface Recipient {
  /**
   * Group of recipients that may share a file: the weakest one determines its security, so hybrid recipients are not
   * mixed with others, and passphrases stand alone.
   */
  readonly group: 'classical' | 'post-quantum' | 'passphrase';
  wrap(fileKey: Uint8Array): MaybePromise<Stanza>;
}

/** Identity that decrypts files. */
export interface Identity {
  /**
   * Unwraps the file key, which the caller overwrites.
   * @returns undefined if none of the stanzas matches this identity
   * @throws `inauthentic` for a malformed stanza of its type
   */
  unwrap(stanzas: readonly Stanza[]): MaybePromise<Buffer | undefined>;
}

const KEMS: readonly AgeKem[] = [x25519Kem, xWingKem];

export const BODY_BYTES = FILE_KEY_BYTES + TAG_BYTES;

/** A recipient or an identity as age writes it. @throws `invalid` when it is mistyped, or of a kind that is not known. */
function parseKey(text: string, prefixOf: (kem: AgeKem) => string, bytes: (kem: AgeKem) => number) {
  const parsed = parseBech32(text);
  const kem = KEMS.find((known) => prefixOf(known) === parsed.prefix);
  if (kem === undefined) {
    throw invalid(`keys of age that begin with ${parsed.prefix.slice(0, 40)}1 are not known`, {
      hint: `known are those that begin with ${KEMS.map((known) => `${prefixOf(known)}1`).join(' or ')}`,
    });
  }
  if (parsed.bytes.length !== bytes(kem)) {
    throw invalid(
      `a key that begins with ${parsed.prefix}1 has ${bytes(kem)} bytes, not ${parsed.bytes.length}`,
    );
  }
  return { kem, bytes: parsed.bytes };
}

/**
 * Parses the public key in an `age1…`.
 * @throws `invalid`
 */
export const parseRecipient = (text: string) =>
  parseKey(
    text,
    (kem) => kem.recipientPrefix,
    (kem) => kem.publicBytes,
  );

/** One whose private key is in hardware; undefined for a recipient of another kind. @throws `invalid` when it is mistyped. */
function taggedRecipient(text: string): Recipient | undefined {
  const { prefix, bytes } = parseBech32(text);
  const kem = taggedKems.find(({ recipientPrefix }) => recipientPrefix === prefix);
  if (kem === undefined) return undefined;
  if (bytes.length !== kem.publicBytes) {
    throw invalid(`a key that begins with ${prefix}1 has ${kem.publicBytes} bytes, not ${bytes.length}`);
  }
  kem.seal(bytes, Buffer.alloc(FILE_KEY_BYTES));
  return {
    group: kem.isPostQuantum ? 'post-quantum' : 'classical',
    wrap(fileKey) {
      const { tag, encapsulated, body } = kem.seal(bytes, fileKey);
      return { type: kem.stanza, args: [tag, encapsulated].map(printUnpadded), body: Buffer.from(body) };
    },
  };
}

/** Whether a text begins as a recipient of a kind that is known here, whatever follows. */
export const isKnownRecipient = (text: string): boolean =>
  KEMS.some(({ recipientPrefix }) => text.slice(0, text.lastIndexOf('1')) === recipientPrefix);

/** The public half of an `AGE-SECRET-KEY-…`, as age writes it. @throws `invalid`, never with the text in it. */
export function recipientOfIdentity(text: string): string {
  const { kem, bytes } = parseKey(
    text,
    (known) => known.identityPrefix,
    () => SECRET_BYTES,
  );
  const publicKey = kem.publicOf(bytes);
  wipe(bytes);
  return printBech32(kem.recipientPrefix, publicKey);
}

/** Generates an X25519 identity, `AGE-SECRET-KEY-…`. */
export function freshIdentity(random: Random): string {
  const secret = random.bytes(SECRET_BYTES);
  const text = printBech32(x25519Kem.identityPrefix, secret).toUpperCase();
  wipe(secret);
  return text;
}

/**
 * Parses an `age1…` into a recipient.
 * @throws `invalid` if it is mistyped, or a weak key that anyone could decrypt with
 */
export function ageRecipient(text: string): Recipient {
  const tagged = taggedRecipient(text);
  if (tagged !== undefined) return tagged;
  const { kem, bytes } = parseRecipient(text);
  // Detect an invalid key before a file is begun.
  kem.seal(bytes, Buffer.alloc(FILE_KEY_BYTES));
  return {
    group: kem.isPostQuantum ? 'post-quantum' : 'classical',
    wrap(fileKey) {
      const { encapsulated, body } = kem.seal(bytes, fileKey);
      return { type: kem.stanza, args: [printUnpadded(encapsulated)], body: Buffer.from(body) };
    },
  };
}

/**
 * Parses an `AGE-SECRET-KEY-…` into an identity.
 * @throws `invalid`, without the text in it
 */
export function ageIdentity(text: string): Identity {
  const { kem, bytes: secret } = parseKey(
    text,
    (known) => known.identityPrefix,
    () => SECRET_BYTES,
  );
  const publicKey = kem.publicOf(secret);
  return {
    unwrap(stanzas) {
      for (const sealed of sealedFor(kem, stanzas)) {
        const fileKey = kem.open(secret, publicKey, sealed);
        if (fileKey !== undefined) return fileKey;
      }
      return undefined;
    },
  };
}

/** What the stanzas of one kind hold. @throws `inauthentic` for one that is not as it should be. */
export const sealedFor = (kem: AgeKem, stanzas: readonly Stanza[]): readonly SealedSecret[] =>
  stanzas
    .filter(({ type }) => type === kem.stanza)
    .map(({ args, body }) => {
      const [encapsulated] = requireShape(args, 1, body);
      return { encapsulated: unpadded(encapsulated ?? '', kem.encapsulatedBytes), body };
    });

/**
 * Checks the shape of a stanza. A body with another length than a wrapped file key is never tried: an attacker could
 * learn from it which of many keys opens it.
 * @throws `inauthentic`
 */
export function requireShape(args: readonly string[], count: number, body: Buffer): readonly string[] {
  if (args.length !== count) throw damaged('a recipient stanza has more or fewer values than it should have');
  if (body.length !== BODY_BYTES) throw damaged('a recipient stanza wraps something that is no file key');
  return args;
}
