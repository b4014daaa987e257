import type { Encrypted } from '../../transit/key-cipher.ts';

/** What encrypt, rewrap and datakey answer of a ciphertext. */
export interface EncryptedData {
  readonly ciphertext: string;
  readonly key_version: number;
}

export const encrypted = ({ ciphertext, keyVersion }: Encrypted): EncryptedData => ({
  ciphertext,
  key_version: keyVersion,
});
