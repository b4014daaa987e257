import { alternatives } from '../../../ground/alternatives.ts';
import { TAG_BYTES, wiping } from '../../../ground/bytes.ts';
import { invalid } from '../../../ground/errors.ts';
import type { MaybePromise } from '../../../ground/maybe-promise.ts';
import type { Random } from '../../../ground/random.ts';
import { parseBech32, printBech32 } from '../../key-types/age/bech32.ts';
import { type AgeKem, SECRET_BYTES, type SealedSecret, STANZA_TAG_BYTES } from '../../key-types/age/kem.ts';
import { mlKemP256Kem, p256Kem } from '../../key-types/age/tagged.ts';
import { x25519Kem, xWingKem } from '../../key-types/age/x25519.ts';
import { damaged } from '../refusals.ts';
import { FILE_KEY_BYTES, printUnpadded, type Stanza, unpadded } from './header.ts';

/**
 * Group of recipients that may share a file: the weakest one determines its security, so hybrid recipients are not
 * mixed with others, and passphrases stand alone. Plugins may have other groups, by the labels that they give.
 */
export type RecipientGroup = 'classical' | 'post-quantum' | 'passphrase' | `labels ${string}`;

/** Recipient that a file is encrypted to. */
export interface Recipient {
  readonly group: RecipientGroup;
  wrap(fileKey: Uint8Array): MaybePromise<Stanza>;
}

/** Recipient of a plugin, which may wrap a file key several times, and reveals its group only then. */
export interface WrappingProgram {
  readonly group?: undefined;
  /** @throws `unavailable` if the program is missing or fails */
  wrapAll(
    fileKey: Uint8Array,
  ): Promise<{ readonly group: RecipientGroup; readonly stanzas: readonly Stanza[] }>;
}

export type AnyRecipient = Recipient | WrappingProgram;

/** Identity that decrypts files. */
export interface AgeIdentity {
  /**
   * Unwraps the file key, which the caller overwrites.
   * @returns undefined if none of the stanzas matches this identity
   * @throws `inauthentic` for a malformed stanza of its type
   */
  unwrap(stanzas: readonly Stanza[]): MaybePromise<Buffer | undefined>;
}

const KEMS: readonly AgeKem[] = [x25519Kem, xWingKem, p256Kem, mlKemP256Kem];

const BODY_BYTES = FILE_KEY_BYTES + TAG_BYTES;

/**
 * Parses a recipient or an identity in age's encoding.
 * @throws `invalid` if it is mistyped, or of an unknown type
 */
function parseKey(
  text: string,
  prefixOf: (kem: AgeKem) => string | undefined,
  bytes: (kem: AgeKem) => number,
) {
  const parsed = parseBech32(text);
  const kem = KEMS.find((known) => prefixOf(known) === parsed.prefix);
  if (kem === undefined) {
    const prefixes = KEMS.flatMap((known) => prefixOf(known) ?? []);
    throw invalid(`unknown age key type ${parsed.prefix.slice(0, 40)}1…`, {
      hint: `use one that begins with ${alternatives(prefixes.map((prefix) => `${prefix}1`))}`,
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

/** Whether a text is an `age1…` of a kind that needs no plugin. */
export const isOwnRecipient = (text: string): boolean =>
  KEMS.some(({ recipientPrefix: prefix }) => text.slice(0, text.lastIndexOf('1')).toLowerCase() === prefix);

/**
 * Returns the recipient of an `AGE-SECRET-KEY-…`.
 * @throws `invalid`, without the text in it
 */
export function recipientOfIdentity(text: string): string {
  const { kem, bytes } = parseKey(
    text,
    (known) => known.identityPrefix,
    () => SECRET_BYTES,
  );
  return printBech32(kem.recipientPrefix, wiping(bytes, kem.publicOf));
}

/** Generates an X25519 identity, `AGE-SECRET-KEY-…`. */
export const freshIdentity = (random: Random): string =>
  wiping(random.bytes(SECRET_BYTES), (secret) => printBech32(x25519Kem.identityPrefix, secret).toUpperCase());

/**
 * Parses an `age1…` into a recipient.
 * @throws `invalid` if it is mistyped, or a weak key that anyone could decrypt with
 */
export function ageRecipient(text: string): Recipient {
  const { kem, bytes } = parseRecipient(text);
  // Detect an invalid key before a file is begun.
  kem.seal(bytes, Buffer.alloc(FILE_KEY_BYTES));
  return {
    group: kem.isPostQuantum ? 'post-quantum' : 'classical',
    wrap(fileKey) {
      const { encapsulated, body } = kem.seal(bytes, fileKey);
      const tag = kem.tag?.(bytes, encapsulated);
      const args = [...(tag === undefined ? [] : [tag]), encapsulated].map(printUnpadded);
      return { type: kem.stanza, args, body: Buffer.from(body) };
    },
  };
}

/**
 * Parses an `AGE-SECRET-KEY-…` into an identity.
 * @throws `invalid`, without the text in it
 */
export function ageIdentity(text: string): AgeIdentity {
  const { kem, bytes: secret } = parseKey(
    text,
    (known) => known.identityPrefix,
    () => SECRET_BYTES,
  );
  const publicKey = kem.publicOf(secret);
  return {
    unwrap(stanzas) {
      for (const sealed of sealedFor({ kem, bytes: publicKey }, stanzas)) {
        const fileKey = kem.open(secret, publicKey, sealed);
        if (fileKey !== undefined) return fileKey;
      }
      return undefined;
    },
  };
}

/**
 * Returns the contents of the stanzas that may be for a public key: if its kind has no tags, all of that kind.
 * @throws `inauthentic` for a malformed one of its kind
 */
export const sealedFor = (
  { kem, bytes }: ReturnType<typeof parseRecipient>,
  stanzas: readonly Stanza[],
): readonly SealedSecret[] =>
  stanzas
    .filter(({ type }) => type === kem.stanza)
    .flatMap(({ args, body }) => {
      const values = requireShape(args, kem.tag === undefined ? 1 : 2, body);
      const encapsulated = unpadded(values.at(-1) ?? '', kem.encapsulatedBytes);
      const isItsOwn =
        kem.tag === undefined ||
        unpadded(values[0] ?? '', STANZA_TAG_BYTES).equals(kem.tag(bytes, encapsulated));
      return isItsOwn ? [{ encapsulated, body }] : [];
    });

/**
 * Checks the shape of a stanza. A body with another length than a wrapped file key is never tried: an attacker could
 * learn from it which of many keys opens it.
 * @throws `inauthentic`
 */
export function requireShape(args: readonly string[], count: number, body: Buffer): readonly string[] {
  if (args.length !== count) throw damaged('a recipient in its header has too few or too many values');
  if (body.length !== BODY_BYTES)
    throw damaged('a recipient in its header has a wrapped file key of the wrong length');
  return args;
}
