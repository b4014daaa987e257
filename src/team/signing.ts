import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { sshSignatureBytes, sshSignatureOf, sshSignedData } from '../signatures/ssh-signature.ts';
import type { Fact } from './fact.ts';
import type { IsSigned } from './judge/good.ts';
import { signerOf } from './recipients.ts';

/** Signs and verifies facts like `ssh-keygen -Y sign -n coffer-team`, with Ed25519 keys only. */

const NAMESPACE = 'coffer-team';
const HASH = 'sha512';
const SIGNATURE_BYTES = 64;

const signedData = (message: string): Buffer => sshSignedData(NAMESPACE, HASH, hash(HASH, message, 'buffer'));

const printed = (key: KeyObject, signature: Uint8Array): string =>
  sshSignatureBytes(sshSignatureOf(key, NAMESPACE, HASH, signature)).toString('base64');

/**
 * Signs a message.
 * @param key Ed25519 private key
 */
export const signed = (message: string, key: KeyObject): string =>
  printed(createPublicKey(key), sign(null, signedData(message), key));

/**
 * Signs a message with a key that another program has.
 * @param key Ed25519 public key
 * @param sign returns the raw signature of data, verified
 */
export const signedWith = async (
  message: string,
  key: KeyObject,
  sign: (data: Buffer) => Promise<Uint8Array>,
): Promise<string> => printed(key, await sign(signedData(message)));

interface KnownSigner {
  readonly key: KeyObject;
  /** Bytes before the last 64 of every signature of this key. */
  readonly head: Buffer;
}

/** A keyring has few signers and thousands of signatures, so what is the same in all of one's is made once. */
function signerIn(line: string): KnownSigner {
  const key = signerOf(line);
  const any = Buffer.from(printed(key, Buffer.alloc(SIGNATURE_BYTES)), 'base64');
  return { key, head: any.subarray(0, -SIGNATURE_BYTES) };
}

/**
 * Creates a signature verifier. The whole signature is compared with the one that the key, the namespace and its 64
 * bytes yield, so that it has only one encoding.
 * @param verified marks of facts that were verified before
 */
export function signatureCheck(verified: ReadonlySet<string> = new Set()): IsSigned {
  const signers = new Map<string, KnownSigner>();
  return (fact, line) => {
    if (verified.has(verifiedMark(fact))) return true;
    const { key, head } = signers.get(line) ?? signerIn(line);
    signers.set(line, { key, head });
    const bytes = Buffer.from(fact.signature, 'base64');
    const raw = bytes.subarray(head.length);
    return (
      raw.length === SIGNATURE_BYTES &&
      bytes.subarray(0, head.length).equals(head) &&
      bytes.toString('base64') === fact.signature &&
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
