import { MECHANISM } from './rpc/mechanisms.ts';

/** Hash function with its names in the transit API and Node, and its PKCS #11 numbers. */
export interface HashNames {
  readonly transit: string;
  readonly node: string;
  readonly bytes: number;
  /** `CKM_…` */
  readonly mechanism: number;
  /** `CKG_MGF1_…` */
  readonly maskGeneration: number;
}

const hash = (
  transit: string,
  node: string,
  bytes: number,
  mechanism: number,
  maskGeneration: number,
): HashNames => ({
  transit,
  node,
  bytes,
  mechanism,
  maskGeneration,
});

export const SHA1 = hash('sha1', 'sha1', 20, MECHANISM.sha1, 1);
export const SHA224 = hash('sha2-224', 'sha224', 28, MECHANISM.sha224, 5);
export const SHA256 = hash('sha2-256', 'sha256', 32, MECHANISM.sha256, 2);
export const SHA384 = hash('sha2-384', 'sha384', 48, MECHANISM.sha384, 3);
export const SHA512 = hash('sha2-512', 'sha512', 64, MECHANISM.sha512, 4);

export const HASHES: readonly HashNames[] = [SHA1, SHA224, SHA256, SHA384, SHA512];
/** Longest digest, in bytes. */
export const MOST_DIGEST_BYTES = 64;
