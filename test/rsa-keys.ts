import crypto, { type KeyObject } from 'node:crypto';
import { isLong } from './long.ts';
import prepared from './vectors/rsa-keys.json' with { type: 'json' };

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

type Done = (error: null, publicKey: KeyObject, privateKey: KeyObject) => void;
type Make = (type: string, options: object, done?: Done) => Pair | undefined;

/** By their size in bits. */
let keys: Readonly<Record<string, readonly KeyObject[]>> | undefined;
/** Of the prepared keys, and of nearly all others; whoever asks for no exponent gets this one. */
const USUAL_EXPONENT = 65_537;
/** Where keys are made in earnest: to make each type is what it is about. */
const IN_EARNEST = 'test/transit/key-types/key-types.test.ts';

/** How many of each size a file has had; undefined where it makes all by itself. */
let given: Map<string, number> | undefined;

/** Begins a file, which is given the same keys each time. */
export function giveKeysTo(file: string): void {
  given = isLong || file === IN_EARNEST ? undefined : new Map();
  // Before any test: where one has left an error of OpenSSL behind, Node refuses the next key that it reads.
  if (given !== undefined) keys ??= Object.fromEntries(Object.entries(prepared).map(readAll));
}

const readAll = ([bits, all]: [string, string[]]): [string, readonly KeyObject[]] => [
  bits,
  all.map((der) =>
    crypto.createPrivateKey({ key: Buffer.from(der, 'base64'), format: 'der', type: 'pkcs8' }),
  ),
];

/** The next prepared key of this kind, which no other call of the file has had. */
function nextKey(type: string, options: object): Pair | undefined {
  const {
    modulusLength,
    publicExponent = USUAL_EXPONENT,
    ...more
  } = options as Readonly<Record<string, unknown>>;
  const isUsual = type === 'rsa' && publicExponent === USUAL_EXPONENT && Object.keys(more).length === 0;
  if (given === undefined || !isUsual) return undefined;
  const bits = String(modulusLength);
  const index = given.get(bits) ?? 0;
  const privateKey = keys?.[bits]?.[index];
  if (privateKey === undefined) return undefined;
  given.set(bits, index + 1);
  return { publicKey: crypto.createPublicKey(privateKey), privateKey };
}

/**
 * Functions of `node:crypto` that make key pairs, with RSA keys that were made before: OpenSSL takes up to seconds for one of 4,096 bits,
 * and a different time each run. The long proof makes them all.
 */
export function withPreparedKeys(original: { generateKeyPair: unknown; generateKeyPairSync: unknown }): {
  readonly generateKeyPair: Make;
  readonly generateKeyPairSync: Make;
} {
  const make = original.generateKeyPair as Make;
  const makeAtOnce = original.generateKeyPairSync as Make;
  return {
    generateKeyPair(type, options, done) {
      const pair = nextKey(type, options);
      if (pair === undefined || done === undefined) return make(type, options, done);
      setImmediate(done, null, pair.publicKey, pair.privateKey);
      return undefined;
    },
    generateKeyPairSync: (type, options) => nextKey(type, options ?? {}) ?? makeAtOnce(type, options),
  };
}
