import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { sshSignatureBytes, sshSignatureOf, sshSignedData } from '../signatures/ssh-signature.ts';
import type { Fact } from './fact.ts';
import type { IsSigned } from './judge/good.ts';
import { signerOf } from './recipients.ts';

/** Signs and verifies facts like `ssh-keygen -Y sign -n coffer-team`, with Ed25519 keys only. */

const NAMESPACE = 'coffer-team';
const HASH = 'sha512';
const SIGNATURE_BYTES = 64;

const signedData = (message: string): Buffer =>
  sshSignedData(NAMESPACE, HASH, createHash(HASH).update(message).digest());

const printed = (key: KeyObject, signature: Uint8Array): string =>
  sshSignatureBytes(sshSignatureOf(key, NAMESPACE, HASH, signature)).toString('base64');

/**
 * Signs a message.
 * @param key Ed25519 private key
 */
export const signed = (message: string, key: KeyObject): string =>
  printed(createPublicKey(key), sign(null, signedData(message), key));

/**
 * Creates a signature verifier. The whole signature is compared with the one that the key, the namespace and its 64
 * bytes yield, so that it has only one encoding.
 * @param verified marks of facts that were verified before
 */
export function signatureCheck(verified: ReadonlySet<string> = new Set()): IsSigned {
  const keys = new Map<string, KeyObject>();
  return (fact, line) => {
    if (verified.has(verifiedMark(fact))) return true;
    const key = keys.get(line) ?? signerOf(line);
    keys.set(line, key);
    const bytes = Buffer.from(fact.signature, 'base64');
    const raw = bytes.subarray(-SIGNATURE_BYTES);
    return (
      raw.length === SIGNATURE_BYTES &&
      printed(key, raw) === fact.signature &&
      verify(null, signedData(fact.message), key, raw)
    );
  };
}

/** Whether a fact is signed with the key of the card that it names as its author's, which may be any card. */
export function isSignedByAuthor(fact: Fact, all: ReadonlyMap<string, Fact>, check: IsSigned): boolean {
  const sign = all.get(fact.by)?.card?.sign;
  return sign !== undefined && check(fact, sign);
}

/** Returns the mark of a fact whose signature was verified. */
export const verifiedMark = ({ id, digest }: Pick<Fact, 'id' | 'digest'>): string => `${id}${digest}`;
