import { createPublicKey, type KeyObject } from 'node:crypto';

/** More than all versions of what is offered. */
const MOST = 4096;

/** Public keys as `transit keys read` shows them. Reading one costs more than everything else of a list, so they are kept. */
export class PublicKeys {
  readonly #known = new Map<string, KeyObject | undefined>();

  /** @param text PEM, or the raw bytes of Ed25519 in base64, as peers have them. @returns undefined for what is neither. */
  read(text: unknown): KeyObject | undefined {
    if (typeof text !== 'string' || text === '') return undefined;
    if (this.#known.has(text)) return this.#known.get(text);
    const key = parsed(text);
    if (this.#known.size >= MOST) this.#known.clear();
    this.#known.set(text, key);
    return key;
  }
}

function parsed(text: string): KeyObject | undefined {
  try {
    if (text.startsWith('-----')) return createPublicKey(text);
    const x = Buffer.from(text, 'base64').toString('base64url');
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  } catch {
    return undefined;
  }
}
