import { createPublicKey, type KeyObject } from 'node:crypto';
import { attempt } from '../../ground/errors.ts';

/** Maximum number of cached keys, more than all offered versions. */
const MOST = 4096;

/** Cache of public keys from `transit keys read`. Parsing one costs more than the rest of a list. */
export class PublicKeys {
  readonly #known = new Map<string, KeyObject | undefined>();

  /**
   * Parses a public key.
   * @param text PEM, or the raw bytes of Ed25519 in base64, as in Vault
   * @returns undefined if it is neither
   */
  read(text: unknown): KeyObject | undefined {
    if (typeof text !== 'string' || text === '') return undefined;
    if (this.#known.has(text)) return this.#known.get(text);
    const key = parsed(text);
    if (this.#known.size >= MOST) this.#known.clear();
    this.#known.set(text, key);
    return key;
  }
}

const parsed = (text: string): KeyObject | undefined =>
  attempt(() => {
    if (text.startsWith('-----')) return createPublicKey(text);
    const x = Buffer.from(text, 'base64').toString('base64url');
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  });
