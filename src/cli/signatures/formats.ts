import { unavailable, unlessRefused } from '../../ground/errors.ts';
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
import type { Signer } from './named-keys.ts';
import { ENDINGS } from './naming.ts';

/** Format of detached signatures. */
export interface SignatureFormat {
  /** Extension of its files. */
  readonly ending: string;
  /** Hash of the signed file, as named in `node:crypto`. */
  readonly hash: string;
  /**
   * Checks the key.
   * @throws `unsupported` if it cannot sign in this format
   */
  requireKey(signer: Signer): void;
  /** Returns the text of the signature. */
  sign(signer: Signer, digest: Buffer, about: SignedThing): Promise<string>;
}

interface SignedThing {
  readonly fileName: string;
  readonly namespace: string;
  readonly comment: string | undefined;
  /** Time of the signature, in seconds since 1970. */
  readonly at: number;
}

/**
 * Checks each signature before it is returned, regardless of the server's answer.
 * @throws `unavailable` if it is not valid
 */
function requireFit(holds: () => boolean): void {
  if (!unlessRefused(holds, false)) throw unavailable('the returned signature does not match the key');
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

/** Formats by the names that `--format` takes. */
export const FORMATS: Readonly<Record<string, SignatureFormat>> = { ssh, minisign };
