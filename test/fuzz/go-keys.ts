import { createPrivateKey } from 'node:crypto';
import { restoreKey } from '../../src/transit/backup/restore-key.ts';
import { configureKey } from '../../src/transit/configuration.ts';
import type { Engine } from '../../src/transit/engine.ts';
import { requireKey } from '../../src/transit/named-key.ts';
import fixtures from '../vectors/go-backups/backups.json' with { type: 'json' };
import type { Secrets } from './secrets.ts';

/** A text that a Go program made with a key: a ciphertext, a signature or an HMAC. */
export interface Sample {
  readonly key: string;
  readonly kind: 'decrypt' | 'verify' | 'hmac';
  readonly text: string;
  /** Base64. */
  readonly message: string;
  readonly context?: string;
  readonly nonce?: string | undefined;
  readonly associated_data?: string | undefined;
  readonly hash_algorithm?: string;
  readonly signature_algorithm?: string;
  readonly marshaling_algorithm?: string;
}

/** Keys of every type that peers have, always the same ones: their names, and what was made with them. */
export const goKeys = fixtures;

export const goSamples: readonly Sample[] = fixtures.flatMap(({ name, checks }) =>
  checks.map((check) => ({ key: name, ...check }) as Sample),
);

/** Restores all of them, and adds their secrets to those that must not be told. */
export async function restoreGoKeys(engine: Engine, secrets: Secrets): Promise<void> {
  for (const { name, backup } of goKeys) {
    await restoreKey(engine, { backup, force: false });
    // One of them would be rotated by its first use, which is no change that a test looks for.
    await configureKey(engine, name, { autoRotatePeriodSeconds: 0 });
    const { document } = await requireKey(engine, name, 'key not found');
    for (const { secret, hmacKey } of Object.values(document.versions)) {
      if (secret !== undefined) secrets.add(`the key ${name}`, secretPart(Buffer.from(secret, 'base64')));
      if (hmacKey !== undefined) secrets.add(`the HMAC key of ${name}`, Buffer.from(hmacKey, 'base64'));
    }
  }
}

/** What of stored key material nobody may see: all of a symmetric key, and of an asymmetric one no part that is public. */
export function secretPart(stored: Buffer): Buffer {
  try {
    const { d } = createPrivateKey({ key: stored, format: 'der', type: 'pkcs8' }).export({ format: 'jwk' });
    if (d !== undefined) return Buffer.from(d, 'base64url');
  } catch {
    // No PKCS#8, or of a type that has no such number.
  }
  return stored.length > 64 ? stored.subarray(-32) : stored;
}
