import { encodeBase64 } from '../ground/base64.ts';
import { wipe } from '../ground/bytes.ts';
import { failingAs, invalid, ownWords } from '../ground/errors.ts';
import { Pace } from '../ground/pace.ts';
import type { CipherItem } from './batch.ts';
import { type DerivationContext, decodeContext } from './context-keys.ts';
import type { Engine } from './engine.ts';
import {
  type Encrypted,
  KeyCipher,
  oaepHashOf,
  refuseAssociatedData,
  requirePaddingScheme,
} from './key-cipher.ts';
import { requireKey } from './named-key.ts';
import { rotatedWhenDue } from './rotation.ts';
import { LATEST } from './version-choice.ts';

export interface DataKeyRequest extends Omit<CipherItem, 'problem'> {
  /** Whether to return the plaintext key as well. */
  readonly withPlaintext: boolean;
  /** 128, 256 or 512. */
  readonly bits: number;
  /** 0 or absent for the latest. */
  readonly keyVersion?: number;
}

export interface DataKey extends Encrypted {
  /** Base64. */
  readonly plaintext?: string;
}

const LENGTHS_IN_BITS = [128, 256, 512];

/** Maximum number of data keys per request. */
const MOST_KEYS = 1000;

/**
 * Creates a random data key, encrypted with a named key.
 * @throws `not-found`, `invalid`, `unsupported`
 */
export async function dataKey(engine: Engine, name: string, request: DataKeyRequest): Promise<DataKey> {
  const make = await dataKeyMaker(engine, name, request);
  return make();
}

/**
 * Creates several data keys, all with one version of the named key.
 * @param count from 1 to 1000
 * @throws `not-found`, `invalid`, `unsupported`
 */
export async function dataKeys(
  engine: Engine,
  name: string,
  count: number,
  request: DataKeyRequest,
): Promise<readonly DataKey[]> {
  if (count < 1 || count > MOST_KEYS) {
    throw invalid(`count must be from 1 to ${MOST_KEYS}`, { field: 'count' });
  }
  const make = await dataKeyMaker(engine, name, request);
  const made: DataKey[] = [];
  const pace = new Pace();
  while (made.length < count) {
    made.push(await make());
    await pace.step();
  }
  return made;
}

/** Validates a request, and returns a function that creates data keys for it. */
async function dataKeyMaker(engine: Engine, name: string, request: DataKeyRequest) {
  const context = decodeContextOrRefuse(request.context);
  const found = await requireKey(engine, name, 'encryption key not found');
  if (!LENGTHS_IN_BITS.includes(request.bits)) {
    throw invalid(ownWords('invalid bit length'), {
      field: 'bits',
      hint: `use one of ${LENGTHS_IN_BITS.join(', ')}`,
    });
  }
  const { associatedData, nonce, keyVersion = LATEST } = request;
  requirePaddingScheme(found, request.paddingScheme, 'padding_scheme');
  const oaepHash = oaepHashOf(found, request.hashAlgorithm, 'hash_algorithm');
  if (found.type.aead === undefined) refuseAssociatedData({ associatedData }, found.type.name);
  const key = await rotatedWhenDue(engine, found);
  const cipher = new KeyCipher(engine, key);
  return async (): Promise<DataKey> => {
    const plaintext = engine.random.bytes(request.bits / 8);
    const inputs = { plaintext, context, associatedData, nonce, keyVersion, oaepHash };
    const encrypted = await cipher.encrypt(inputs);
    const printed = request.withPlaintext ? { plaintext: encodeBase64(plaintext) } : {};
    wipe(plaintext);
    return { ...encrypted, ...printed };
  };
}

/**
 * Decodes the context.
 * @throws `invalid`, with the message of operations that decode the context before they look for the key
 */
export const decodeContextOrRefuse = (text: string | undefined): DerivationContext | undefined =>
  failingAs(
    (cause) =>
      invalid(ownWords('failed to base64-decode context'), {
        field: 'context',
        hint: 'use standard base64 with padding',
        cause,
      }),
    () => decodeContext(text),
  );
