import { decodeBase64 } from '../ground/base64.ts';
import { type CofferError, invalid, ownWords, unsupported } from '../ground/errors.ts';
import { type BatchItem, eachItem, type ItemResult, requireItems } from './batch.ts';
import { keyFormat, printVersioned } from './ciphertext.ts';
import type { OpenMaterial } from './context-keys.ts';
import { decodeContextOrRefuse } from './data-key.ts';
import type { Engine } from './engine.ts';
import { decodeInput, hashNamed } from './hashing.ts';
import { invalidHash, missingInput } from './hmac.ts';
import type { Marshaling, SignatureOptions, Signing } from './key-types/key-type.ts';
import type { DigestHashName } from './key-types/prehash/digest-hash.ts';
import type { SaltLength } from './key-types/prehash/rsa-digest.ts';
import { type KeyVersion, type NamedKey, requireKey, requireNotSoftDeleted } from './named-key.ts';
import { rotatedWhenDue } from './rotation.ts';
import { versionToWriteWith } from './version-choice.ts';

export interface SignItem extends BatchItem {
  /** Base64. */
  readonly input?: string | undefined;
  /** Base64; for derived keys. */
  readonly context?: string | undefined;
}

/** Signature parameters as given by the caller. */
export interface SignatureRequest {
  readonly hashAlgorithm: string;
  /** Whether the input is the digest. */
  readonly prehashed: boolean;
  /** RSA: `pss` (also when empty) or `pkcs1v15`. */
  readonly signatureAlgorithm: string;
  /** `asn1` or `jws`. */
  readonly marshalingAlgorithm: string;
  /** `auto`, `hash`, or bytes. */
  readonly saltLength: string;
  /** Base64; absent or empty for none. */
  readonly signatureContext?: string | undefined;
}

export interface SignatureResult {
  readonly signature: string;
  readonly keyVersion: number;
  /** Public key of the context, for a derived key. Base64. */
  readonly publicKey?: string;
}

/**
 * Signs inputs; results are in the order of the items.
 * @param keyVersion 0 for the latest
 * @throws `not-found`, `unsupported`; `invalid` for errors that affect the whole call
 */
export async function sign(
  engine: Engine,
  name: string,
  items: readonly SignItem[],
  request: SignatureRequest & { readonly keyVersion: number },
): Promise<ItemResult<SignatureResult>[]> {
  const options = signatureOptions(request);
  const found = await requireKey(engine, name, 'signing key not found');
  const signing = requireSigning(found, 'signing');
  requireFitting(request, signing);
  requireItems(items);
  const key = await rotatedWhenDue(engine, found);
  const print = signaturePrinter(engine, key, options);
  return eachItem(items, (item) => {
    if (item.input === undefined) throw missingInput();
    const input = decodeInput(item.input);
    const context = decodeContextOrRefuse(item.context);
    requireNotSoftDeleted(key);
    const version = versionToWriteWith(key, request.keyVersion, 'signing');
    if (!version.hasSecret) throw noPrivatePart();
    const derived = key.document.derived ? contextKeyFor(version, context) : undefined;
    const material = derived === undefined ? version.material : derived.material;
    const shown = derived === undefined ? {} : shownPublicKey(key, derived);
    const signature = signing.sign(material, input, options, engine.random);
    return signature instanceof Promise
      ? signature.then((bytes) => ({ ...print(version, bytes), ...shown }))
      : { ...print(version, signature), ...shown };
  });
}

function signaturePrinter(engine: Engine, key: NamedKey, { marshaling }: SignatureOptions) {
  const format = keyFormat(engine, key.document);
  // The JWS marshaling changes the base64 alphabet for every type, even for types without a marshaling.
  const encoding = marshaling === 'jws' ? 'base64url' : 'base64';
  return (version: KeyVersion, bytes: Buffer): SignatureResult => ({
    signature: printVersioned(format, version.number, bytes.toString(encoding)),
    keyVersion: version.number,
  });
}

const shownPublicKey = ({ type }: NamedKey, derived: OpenMaterial): { readonly publicKey?: string } =>
  type.publicKey === undefined ? {} : { publicKey: type.publicKey.print(derived.material) };

/**
 * Returns the key of a context.
 * @throws `invalid`, with the message of operations that sign
 */
export function contextKeyFor(
  version: KeyVersion,
  context: ReturnType<typeof decodeContextOrRefuse>,
): OpenMaterial {
  try {
    return version.contextKeys.of(context);
  } catch (error) {
    if (context !== undefined || !(error instanceof Error)) throw error;
    throw invalid(`error deriving key: ${error.message}`, {
      field: 'context',
      hint: 'set a context; verifying needs the one that was used for signing',
    });
  }
}

/**
 * Requires a key that signs.
 * @param purpose `certification` for what only a public key can do, so that no HMAC replaces it
 * @throws `unsupported` otherwise
 */
export function requireSigning(
  { type, document }: NamedKey,
  purpose: 'signing' | 'certification' | 'verification',
): Signing<unknown> {
  if (type.signing !== undefined) return type.signing;
  const refused = purpose === 'verification' ? purpose : 'signing';
  throw unsupported(`key type ${type.name} does not support ${refused}`, {
    field: 'name',
    hint: {
      signing: `${CREATE_SIGNING}, or compute an HMAC with "coffer transit hmac ${document.name}"`,
      certification: CREATE_SIGNING,
      verification: `use the key that the data was signed with, or verify an HMAC with "coffer transit verify ${document.name} --hmac HMAC"`,
    }[purpose],
  });
}

const CREATE_SIGNING = 'create a signing key with "coffer transit keys create NAME --type ed25519"';

/**
 * Parses the signature parameters.
 * @throws `invalid` for the hash, the marshaling, the salt, in this order
 */
export function signatureOptions(request: SignatureRequest): SignatureOptions {
  const { hashAlgorithm, marshalingAlgorithm, prehashed, signatureAlgorithm } = request;
  if (hashAlgorithm !== 'none' && hashNamed(hashAlgorithm) === undefined) throw invalidHash(hashAlgorithm);
  const hash = hashAlgorithm as DigestHashName | 'none';
  const marshaling = parseMarshaling(marshalingAlgorithm);
  const saltLength = parseSaltLength(request.saltLength);
  const bound = parseSignatureContext(request.signatureContext);
  return { hash, marshaling, saltLength, prehashed, signatureAlgorithm, ...bound };
}

function parseMarshaling(text: string): Marshaling {
  if (text === 'asn1' || text === 'jws') return text;
  throw invalid(`invalid marshaling type "${text}"`, {
    field: 'marshaling_algorithm',
    hint: 'use asn1 or jws',
  });
}

function parseSaltLength(text: string): SaltLength {
  const word = text.toLowerCase();
  if (word === 'auto' || word === 'hash') return word;
  const hint = 'use auto, hash, or a number of bytes';
  if (!/^[+-]?\d{1,15}$/.test(text)) {
    throw invalid(`salt length neither 'auto', 'hash', nor an int: ${text}`, { field: 'salt_length', hint });
  }
  const bytes = Number(text);
  if (bytes < -1) throw invalid(`salt length is invalid: ${bytes}`, { field: 'salt_length', hint });
  if (bytes === 0) return 'auto';
  return bytes === -1 ? 'hash' : bytes;
}

/**
 * Checks that the parameters fit the scheme. Without a hash only a digest can be signed, in the padding that does not
 * name a hash, unless the scheme hashes internally.
 * @throws `invalid`; `unsupported` for a context that would not be bound
 */
export function requireFitting(
  request: SignatureRequest,
  { signsHashes, bindsContexts }: Pick<Signing<unknown>, 'signsHashes' | 'bindsContexts'>,
): void {
  if (request.signatureContext && !bindsContexts) {
    throw unsupported(ownWords('signature_context is not supported for this key type'), {
      field: 'signature_context',
      hint: 'omit the signature context: only ed25519, ML-DSA and SLH-DSA keys support it',
    });
  }
  if (request.hashAlgorithm !== 'none') return;
  if (!signsHashes) return;
  if (request.prehashed && request.signatureAlgorithm === 'pkcs1v15') return;
  throw invalid(
    ownWords('hash_algorithm=none requires both prehashed=true and signature_algorithm=pkcs1v15'),
    {
      field: 'hash_algorithm',
      hint: 'use another hash algorithm, or set both',
    },
  );
}

/** Maximum context length in bytes, by RFC 8032, FIPS 204 and FIPS 205. */
const MOST_CONTEXT_BYTES = 255;

function parseSignatureContext(text: string | undefined): { readonly context?: Uint8Array } {
  if (text === undefined || text === '') return {};
  const context = decodeBase64(text, 'signature_context');
  if (context.length <= MOST_CONTEXT_BYTES) return { context };
  throw invalid(`signature_context has ${context.length} bytes`, {
    field: 'signature_context',
    hint: `use at most ${MOST_CONTEXT_BYTES} bytes; hash longer contexts`,
  });
}

const noPrivatePart = (): CofferError =>
  unsupported(ownWords('requested version for signing does not contain a private part'), {
    field: 'key_version',
    hint: 'only the public key of this version was imported; import its private key',
  });
