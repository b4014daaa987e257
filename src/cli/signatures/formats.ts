import { asCofferError, unavailable } from '../../ground/errors.ts';
import {
  MINISIGN_HASH,
  minisignCommentData,
  minisignKeyName,
  minisignKeyOf,
  printMinisignSignature,
  verifyMinisign,
  verifyMinisignComment,
} from '../../signatures/minisign.ts';
import { sshSignatureName } from '../../signatures/ssh-key.ts';
import {
  armorSshSignature,
  sshSignatureOf,
  sshSignedData,
  sshSigning,
  verifySshSignature,
} from '../../signatures/ssh-signature.ts';
import { ENDINGS } from './endings.ts';
import type { Signer } from './named-keys.ts';

/** A format of signatures that lie beside what they sign. */
export interface SignatureFormat {
  /** The ending of its files. */
  readonly ending: string;
  /** What a file is hashed with, as `node:crypto` knows it. */
  readonly hash: string;
  /** @throws `unsupported` when the key can't sign in this format. */
  requireKey(signer: Signer): void;
  /** The text of the signature. */
  sign(signer: Signer, digest: Buffer, about: SignedThing): Promise<string>;
}

export interface SignedThing {
  readonly fileName: string;
  readonly namespace: string;
  readonly comment: string | undefined;
  /** Seconds since 1970. */
  readonly at: number;
}

/** Nobody is given a signature that does not hold, whatever a server answers. */
function requireFit(holds: () => boolean): void {
  let isFit = false;
  try {
    isFit = holds();
  } catch (error) {
    if (asCofferError(error) === undefined) throw error;
  }
  if (!isFit) throw unavailable('the signature in the answer is not one of the key');
}

const ssh: SignatureFormat = {
  ending: ENDINGS.ssh,
  hash: 'sha512',
  requireKey: ({ version }) => void sshSignatureName(version.key),
  async sign(signer, digest, { namespace }) {
    const { key } = signer.version;
    const raw = await signer.sign(sshSignedData(namespace, 'sha512', digest), sshSigning(key));
    const signature = sshSignatureOf(key, namespace, 'sha512', raw);
    requireFit(() => verifySshSignature(signature, digest));
    return armorSshSignature(signature);
  },
};

const minisign: SignatureFormat = {
  ending: ENDINGS.minisign,
  hash: MINISIGN_HASH,
  requireKey: ({ version }) => void minisignKeyOf(version.key),
  async sign(signer, digest, { fileName, comment: given, at }) {
    const { id: keyId } = minisignKeyOf(signer.version.key);
    const comment = given ?? `timestamp:${at}\tfile:${fileName}\thashed`;
    const signature = await signer.sign(digest, {});
    const commentSignature = await signer.sign(minisignCommentData(signature, comment), {});
    const whole = { keyId, hashed: true, signature, comment, commentSignature };
    const { key } = signer.version;
    requireFit(() => verifyMinisign(whole, key, digest) && verifyMinisignComment(whole, key));
    return printMinisignSignature(whole, `signature of the minisign key ${minisignKeyName(keyId)}`);
  },
};

/** By the names that `--format` takes. */
export const FORMATS: Readonly<Record<string, SignatureFormat>> = { ssh, minisign };
