import { createHash } from 'node:crypto';
import { unsupported } from '../../ground/errors.ts';
import { isSameKey } from '../../ground/foreign-keys.ts';
import {
  isMinisignSignature,
  MINISIGN_HASH,
  type MinisignSignature,
  minisignKeyName,
  parseMinisignSignature,
  verifyMinisign,
  verifyMinisignComment,
} from '../../signatures/minisign.ts';
import type { GivenKey } from '../../signatures/public-key.ts';
import { isEdwardsKey, sshFingerprint } from '../../signatures/ssh-key.ts';
import {
  isSshSignature,
  isSshSignedData,
  parseSshSignature,
  SSH_PREAMBLE_BYTES,
  type SshSignature,
  verifySshSignature,
} from '../../signatures/ssh-signature.ts';
import type { SignatureRequest } from '../../transit/signing.ts';

/** Signature formats that can be verified. */
export const VERIFIED_FORMATS = ['ssh', 'minisign', 'transit'] as const;
export type VerifiedFormat = (typeof VERIFIED_FORMATS)[number];

/** Signed content: a file, or bytes. */
export interface Content {
  /** Returns at most that many first bytes. Called before the other methods. */
  head(bytes: number): Promise<Buffer>;
  /**
   * Returns the hash of the content.
   * @param algorithm name in `node:crypto`
   */
  hash(algorithm: string): Promise<Buffer>;
  /**
   * Returns the whole content.
   * @throws `too-large` if it exceeds the maximum
   */
  whole(): Promise<Buffer>;
}

/** Result of a verification: `why` is the reason why it is not valid, absent for a valid one. */
export interface Verdict {
  readonly format: VerifiedFormat;
  readonly why?: string | undefined;
  /** Description of the matching key for users. */
  readonly key?: string;
  readonly comment?: string;
}

/** Trusted signers. */
export interface Trust {
  /** Keys that may have made the signature; those of a named key with their version number. */
  keys(): readonly (GivenKey & { readonly version?: number })[];
  /** What else may have made the signature, as the end of a sentence; absent: nothing. */
  readonly orElse?: string | undefined;
  /**
   * Present: checks whether the key of an SSH signature may sign for the expected signer.
   * @returns reason against it
   */
  judge?(signature: SshSignature): string | undefined;
}

/** @param name the key that made the signature, if it is known */
const anotherKey = ({ orElse = '' }: Trust, name?: string): string =>
  `the signature was created with another key${name === undefined ? '' : `, ${name}`}${orElse}`;
const ALTERED = 'the file or the signature was modified';

/** Required properties of a signature. */
interface Expected {
  /** Required format; undefined for that of the signature, as far as the form of the trusted key allows it. */
  readonly format: VerifiedFormat | undefined;
  readonly namespace: string;
  readonly request: SignatureRequest;
}

/**
 * Verifies a signature of any known format: SSH, minisign, or the transit engine.
 * @param text text of the signature
 * @throws `invalid` or `unsupported` if it is not of these formats
 * @see docs/decisions/0285
 */
export async function verifySignature(
  text: string,
  content: Content,
  trust: Trust,
  expected: Expected,
): Promise<Verdict> {
  const format = formatOf(text);
  const why = unexpected(format, trust, expected.format);
  if (why !== undefined) return { format, why };
  if (format === 'ssh') return verifySsh(parseSshSignature(text), content, trust, expected.namespace);
  if (format === 'minisign') return verifyMini(parseMinisignSignature(text), content, trust);
  return verifyTransit(text.trim(), content, trust, expected.request);
}

/**
 * Detects the format.
 * @throws `unsupported` if it is unknown
 */
function formatOf(text: string): VerifiedFormat {
  if (isSshSignature(text)) return 'ssh';
  if (isMinisignSignature(text)) return 'minisign';
  if (isTransitSignature(text)) return 'transit';
  throw unsupported('unknown signature format', {
    field: 'SIGNATURE',
    hint: 'use a signature from ssh-keygen, minisign or Coffer',
  });
}

/**
 * Returns the reason against a format. The transit engine signs any bytes, including those that its key has signed as
 * part of another format; so a transit signature is not attributed to the owner of a key given in the form of such a
 * format.
 */
function unexpected(
  format: VerifiedFormat,
  trust: Trust,
  wanted: VerifiedFormat | undefined,
): string | undefined {
  if (wanted !== undefined)
    return wanted === format ? undefined : `the signature has the format ${format}, not ${wanted}`;
  if (trust.judge !== undefined && format !== 'ssh')
    return `the signature has the format ${format}, but an allowed_signers file only verifies ssh signatures`;
  const form = trust.keys().find((key) => key.form === 'ssh' || key.form === 'minisign')?.form;
  if (format !== 'transit' || form === undefined) return undefined;
  return `the signature has the format transit, but the key has the format ${form}: to accept that, add --format transit`;
}

async function verifySsh(
  signature: SshSignature,
  content: Content,
  trust: Trust,
  namespace: string,
): Promise<Verdict> {
  const format = 'ssh';
  const key = sshFingerprint(signature.key);
  const isTrusted =
    trust.judge !== undefined || trust.keys().some((trusted) => isSameKey(trusted.key, signature.key));
  if (!isTrusted) return { format, key, why: anotherKey(trust, key) };
  if (signature.namespace !== namespace) {
    return {
      format,
      key,
      why: `the signature was created for the namespace ${JSON.stringify(signature.namespace)}, not ${JSON.stringify(namespace)}`,
    };
  }
  const judgement = trust.judge?.(signature);
  if (judgement !== undefined) return { format, key, why: judgement };
  const holds = verifySshSignature(signature, await content.hash(signature.hash));
  return { format, key, why: holds ? undefined : ALTERED };
}

async function verifyMini(signature: MinisignSignature, content: Content, trust: Trust): Promise<Verdict> {
  const format = 'minisign';
  const { comment } = signature;
  const ed25519 = trust.keys().filter(({ key }) => isEdwardsKey(key));
  // A key given in another form lacks the key ID of minisign.
  const candidates = ed25519.filter(
    ({ minisignId }) => minisignId === undefined || minisignId.equals(signature.keyId),
  );
  const name = minisignKeyName(signature.keyId);
  if (candidates.length === 0) return { format, why: anotherKey(trust, name) };
  const data = signature.hashed ? await content.hash(MINISIGN_HASH) : await content.whole();
  const found = candidates.find(({ key }) => verifyMinisign(signature, key, data));
  if (found === undefined) return { format, key: name, why: `${ALTERED}, or ${anotherKey(trust)}` };
  if (!verifyMinisignComment(signature, found.key))
    return { format, key: name, why: 'the comment of the signature was modified' };
  return { format, key: name, comment };
}

const TRANSIT = /^(?:service|vault):v([1-9]\d{0,8}):(\S+)$/;

export const isTransitSignature = (text: string): boolean => TRANSIT.test(text.trim());

async function verifyTransit(
  text: string,
  content: Content,
  trust: Trust,
  request: SignatureRequest,
): Promise<Verdict> {
  const format = 'transit';
  const [, number, payload = ''] = TRANSIT.exec(text) ?? [];
  if (isSshSignedData(await content.head(SSH_PREAMBLE_BYTES)))
    return {
      format,
      why: 'the file begins with "SSHSIG", like the data that SSH signs in place of a file: the signature may be that of another file',
    };
  const version = Number(number);
  const candidates = trust
    .keys()
    .filter((trusted) => trusted.version === undefined || trusted.version === version);
  if (candidates.length === 0) return { format, why: `the key has no usable version ${version}` };
  // Loaded on use because it loads every key type, which other signatures do not need.
  const { publicVerifier } = await import('../../transit/public-verification.ts');
  const verifiers = candidates.map(({ key }) => publicVerifier(key, request));
  // Standard input can be read only once, for all keys. They hash it in the same way, which the request determines.
  const hashed = verifiers.find(({ hash }) => hash !== undefined)?.hash;
  const whole = verifiers.some(({ hash }) => hash === undefined) ? await content.whole() : undefined;
  const digest =
    hashed === undefined || whole === undefined
      ? hashed && (await content.hash(hashed))
      : createHash(hashed).update(whole).digest();
  for (const verifier of verifiers) {
    const input = verifier.hash === undefined ? whole : digest;
    if (input && (await verifier.verify(input, payload))) return { format, key: `version ${version}` };
  }
  return { format, why: `${ALTERED}, or ${anotherKey(trust)}` };
}
