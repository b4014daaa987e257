import { decodeContextOrRefuse } from './data-key.ts';
import { requireNotSoftDeleted } from './key-collection.ts';
import type { KeyVersion, NamedKey } from './named-key.ts';

/**
 * How the public keys of a key's versions are shown: PEM, or base64 of the raw bytes, as its type has it.
 * A derived key has one for each context; the one that it derives from is half of the secret, and is never shown.
 * @param context base64; for derived keys.
 * @returns the text for one version; empty where there is nothing to show.
 * @throws `invalid` when the context is not base64; `conflict` when a context's key is asked of a soft-deleted key.
 */
export function publicKeyPrinter(key: NamedKey, context?: string): (version: KeyVersion) => string {
  const { publicKey } = key.type;
  const given = decodeContextOrRefuse(context);
  if (publicKey === undefined) return () => '';
  if (!key.document.derived) return (version) => publicKey.print(version.material);
  if (given === undefined) return () => '';
  requireNotSoftDeleted(key);
  return (version) => (version.hasSecret ? publicKey.print(version.contextKeys.of(given).material) : '');
}
