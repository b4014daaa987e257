import { decodeBase64 } from '../ground/base64.ts';
import { attempt, type CofferError, invalid, ownWords, unsupported } from '../ground/errors.ts';
import { type BatchItem, eachItem, type ItemResult, requireItems } from './batch.ts';
import { keyFormat, parseVersioned, requireUsableVersion, SIGNATURE } from './ciphertext.ts';
import { decodeContextOrRefuse } from './data-key.ts';
import type { Engine } from './engine.ts';
import { decodeInput } from './hashing.ts';
import { hmacVerifier, missingInput } from './hmac.ts';
import type { Marshaling, SignatureOptions } from './key-types/key-type.ts';
import { type KeyVersion, type NamedKey, requireKey, requireNotSoftDeleted } from './named-key.ts';
import {
  contextKeyFor,
  requireFitting,
  requireSigning,
  type SignatureRequest,
  signatureOptions,
} from './signing.ts';
import { requireVersion } from './version-choice.ts';

export interface VerifyItem extends BatchItem {
  /** Base64. */
  readonly input?: string | undefined;
  /** Base64; for derived keys. */
  readonly context?: string | undefined;
  /** Its presence decides, not its content: an item with a signature is verified by it, whatever else it has. */
  readonly signature?: string | undefined;
  readonly hmac?: string | undefined;
}

/**
 * Verifies signatures or HMACs; results are in the order of the items. All items that have one must be of the same
 * kind.
 * @param single whether the call had a single item instead of a batch: without signature and HMAC it is refused first
 * @throws `not-found`, `unsupported`; `invalid` for errors that affect the whole call
 */
export async function verify(
  engine: Engine,
  name: string,
  items: readonly VerifyItem[],
  { request, single }: { readonly request: SignatureRequest; readonly single: boolean },
): Promise<ItemResult<boolean>[]> {
  requireItems(items);
  if (single && items.some(hasNeither)) throw nothingToVerify();
  if (kindOf(engine, items) === 'hmac') return verifyHmacs(engine, name, items, request.hashAlgorithm);
  const options = signatureOptions(request);
  const key = await requireKey(engine, name, 'signature verification key not found');
  // If there is nothing to verify, the key's capabilities do not matter.
  if (items.every(hasNeither)) return eachItem(items, refuseNothing);
  const signing = requireSigning(key, 'verification');
  requireFitting(request, signing);
  const format = keyFormat(engine, key.document);
  return eachItem(items, (item) => {
    if (hasNeither(item)) throw nothingToVerify();
    if (item.input === undefined) throw missingInput();
    const input = decodeInput(item.input);
    const context = decodeContextOrRefuse(item.context);
    requireNotSoftDeleted(key);
    const { version: number, payload } = parseVersioned(item.signature ?? '', format, SIGNATURE);
    requireUsableVersion(number, key.document, SIGNATURE);
    const signature = decodeSignature(payload, options);
    const material = materialOf(key, requireVersion(key, number), context);
    return signature !== undefined && signing.verify(material, input, signature, options);
  });
}

async function verifyHmacs(
  engine: Engine,
  name: string,
  items: readonly VerifyItem[],
  algorithm: string,
): Promise<ItemResult<boolean>[]> {
  const key = await requireKey(engine, name, 'encryption key not found');
  requireNotSoftDeleted(key);
  const verifies = hmacVerifier(engine, key, algorithm);
  return eachItem(items, (item) => (hasNeither(item) ? refuseNothing() : verifies(item)));
}

const isHmac = ({ signature, hmac }: VerifyItem): boolean => signature === undefined && hmac !== undefined;
const hasNeither = ({ signature, hmac }: VerifyItem): boolean =>
  signature === undefined && hmac === undefined;

/**
 * Determines whether the items have signatures or HMACs.
 * @throws `invalid` if they are mixed, and for Vault clients if an item has neither
 */
function kindOf(engine: Engine, items: readonly VerifyItem[]): 'signature' | 'hmac' {
  const hmacs = items.filter(isHmac).length;
  const nothing = items.filter(hasNeither).length;
  const signatures = items.length - hmacs - nothing;
  const isMixed = signatures > 0 && hmacs > 0;
  if (!isMixed && !(nothing > 0 && engine.keepsFamilyRules)) return hmacs > 0 ? 'hmac' : 'signature';
  throw invalid(misfit(signatures, hmacs), {
    field: 'batch_input',
    hint: 'use a signature for every item, or an hmac for every item',
  });
}

function misfit(signatures: number, hmacs: number): string {
  if (signatures > 0 && hmacs > 0) {
    return "elements of batch_input must all provide 'signature' or all provide 'hmac'";
  }
  if (signatures > 0) return "some elements of batch_input are missing 'signature'";
  if (hmacs > 0) return "some elements of batch_input are missing 'hmac'";
  return "no batch_input elements have 'signature' or 'hmac'";
}

function refuseNothing(): never {
  throw nothingToVerify();
}

const nothingToVerify = (): CofferError =>
  invalid(ownWords("neither a 'signature' nor an 'hmac' were given to verify"), {
    field: 'signature',
    hint: 'use --signature or --hmac',
  });

function materialOf(
  { document }: NamedKey,
  version: KeyVersion,
  context: ReturnType<typeof decodeContextOrRefuse>,
): unknown {
  if (!document.derived) return version.material;
  if (version.hasSecret) return contextKeyFor(version, context).material;
  throw unsupported(ownWords('error deriving key: key version does not have a private part'), {
    field: 'signature',
    hint: 'only the public key of this version was imported; import its private key',
  });
}

/** Length of the shortest signature of any type, in bytes. */
const SHORTEST_SIGNATURE = 64;

/**
 * Decodes a signature in the alphabet of its marshaling. Undefined for one in the alphabet of the other marshaling:
 * well-formed, but not valid here.
 * @throws `invalid` if it is truncated, or malformed in both
 */
export function decodeSignature(payload: string, { marshaling }: SignatureOptions): Buffer | undefined {
  const signature = DECODERS[marshaling](payload);
  if (signature !== undefined) return signature;
  const other = DECODERS[marshaling === 'jws' ? 'asn1' : 'jws'](payload);
  if (other !== undefined && other.length >= SHORTEST_SIGNATURE) return undefined;
  // The position of the first bad character would refer to the payload, which the caller does not see separately.
  throw invalid(ownWords('invalid base64 signature value'), {
    field: 'signature',
    hint: 'the signature is truncated, or needs another marshaling_algorithm',
  });
}

const DECODERS: Readonly<Record<Marshaling, (payload: string) => Buffer | undefined>> = {
  /** Standard alphabet with padding. */
  asn1: (payload) => attempt(() => decodeBase64(payload)),
  /** URL-safe alphabet, without padding. */
  jws: (payload) => decodeUnpadded(payload, /^[\w-]*$/),
};

/** Decodes unpadded base64. Newlines are ignored anywhere, as in all of Vault's base64. */
function decodeUnpadded(payload: string, alphabet: RegExp): Buffer | undefined {
  const line = payload.replace(/[\r\n]/g, '');
  if (!alphabet.test(line)) return undefined;
  const digits = line.replace(/={1,2}$/, '');
  return digits.length % 4 === 1 ? undefined : Buffer.from(digits, 'base64url');
}
