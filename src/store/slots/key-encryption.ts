import { argon2 } from 'node:crypto';
import { isObject } from '../../ground/objects.ts';
import type { Random } from '../../ground/random.ts';

/**
 * Key derivation from a slot's secret to the input of the seal over the slot's keys. Random secrets need no stretching;
 * passphrases are stretched with argon2id (RFC 9106), whose parameters are stored in the slot.
 */
export type Kdf =
  | { readonly name: 'hkdf-sha256'; readonly salt: Buffer }
  | {
      readonly name: 'argon2id';
      readonly salt: Buffer;
      readonly memoryKiB: number;
      readonly passes: number;
      readonly lanes: number;
    };

/** Secret of a credential: 32 random bytes, or a passphrase in UTF-8. */
export type SlotSecret = { readonly kind: 'key' | 'passphrase'; readonly bytes: Buffer };

/** RFC 9106 §4, second recommended option, with 16 bytes of salt: about 0.1 s on the machines of 2026. */
const PASSPHRASE_COST = { memoryKiB: 64 * 1024, passes: 3, lanes: 4 } as const;
const PASSPHRASE_SALT_BYTES = 16;
const KEY_SALT_BYTES = 32;
const STRETCHED_BYTES = 32;

/** Bounds for the parameters in a slot file: a few times today's cost. */
const MAX_MEMORY_KIB = 4 * PASSPHRASE_COST.memoryKiB;
const MAX_PASSES = 8;
const MAX_LANES = 16;

/** Cost of stretching a passphrase for a slot, in KiB times passes; random secrets need none. */
export const workOf = (kdf: Kdf): number => (kdf.name === 'argon2id' ? kdf.memoryKiB * kdf.passes : 0);

/** Returns the cost for a number of slots with today's parameters. */
export const workForSlots = (count: number): number =>
  count * PASSPHRASE_COST.memoryKiB * PASSPHRASE_COST.passes;

export function newKdf(kind: SlotSecret['kind'], random: Random): Kdf {
  return kind === 'key'
    ? { name: 'hkdf-sha256', salt: random.bytes(KEY_SALT_BYTES) }
    : { name: 'argon2id', ...PASSPHRASE_COST, salt: random.bytes(PASSPHRASE_SALT_BYTES) };
}

/** Whether the slot was made for a secret of this kind. */
export const accepts = (kdf: Kdf, kind: SlotSecret['kind']): boolean =>
  kind === (kdf.name === 'argon2id' ? 'passphrase' : 'key');

/** Derives the secret under which a slot's keys are sealed; the caller wipes it. */
export async function keyEncryptionSecret(kdf: Kdf, secret: SlotSecret): Promise<Buffer> {
  if (kdf.name === 'hkdf-sha256') return Buffer.from(secret.bytes);
  return new Promise((resolve, reject) => {
    const parameters = {
      message: secret.bytes,
      nonce: kdf.salt,
      memory: kdf.memoryKiB,
      passes: kdf.passes,
      parallelism: kdf.lanes,
      tagLength: STRETCHED_BYTES,
    };
    argon2('argon2id', parameters, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

export function printKdf(kdf: Kdf): object {
  const salt = kdf.salt.toString('base64');
  if (kdf.name === 'hkdf-sha256') return { name: kdf.name, salt };
  return { name: kdf.name, memoryKiB: kdf.memoryKiB, passes: kdf.passes, lanes: kdf.lanes, salt };
}

type PrintedKdf =
  | { name: 'hkdf-sha256'; salt: string }
  | { name: 'argon2id'; salt: string; memoryKiB: number; passes: number; lanes: number };

export const parseKdf = (kdf: PrintedKdf): Kdf => ({ ...kdf, salt: Buffer.from(kdf.salt, 'base64') });

export function isKdf(value: unknown): value is PrintedKdf {
  if (!isObject(value)) return false;
  const { name, salt, memoryKiB, passes, lanes } = value;
  if (typeof salt !== 'string') return false;
  const saltBytes = Buffer.from(salt, 'base64').length;
  if (name === 'hkdf-sha256') return saltBytes === KEY_SALT_BYTES;
  return (
    name === 'argon2id' &&
    saltBytes === PASSPHRASE_SALT_BYTES &&
    within(passes, 1, MAX_PASSES) &&
    within(lanes, 1, MAX_LANES) &&
    within(memoryKiB, 8 * lanes, MAX_MEMORY_KIB)
  );
}

const within = (value: unknown, least: number, most: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
