import type { KeyObject } from 'node:crypto';
import { wiping } from '../../ground/bytes.ts';
import { type CofferError, conflict, invalid, ownWords, unsupported } from '../../ground/errors.ts';
import type { Engine } from '../engine.ts';
import { versionsToExport } from '../export.ts';
import { keyOf } from '../key-types/key-pair.ts';
import { type KeyVersion, type NamedKey, requireKey, requireNotSoftDeleted } from '../named-key.ts';
import { requireWrappingHash, wrapForTransport } from './wrapping.ts';

interface TransferRequest {
  /** Name of the key to wrap with (its latest version): the other server's wrapping key, imported here. */
  readonly destination: string;
  readonly source: string;
  /** A number, `v` and a number, `latest`, or empty for all usable versions. */
  readonly version: string;
  /** Name of the OAEP hash, case-insensitive. */
  readonly hash: string;
}

/** Creates the error for a key that must not leave the store. */
export const sourceNotExportable = (name: string): CofferError =>
  conflict(ownWords('key is not exportable'), {
    field: 'source',
    hint: `run "coffer transit keys config ${name} --exportable" first; this cannot be undone`,
  });

/**
 * Wraps versions of one key under another, so that another server can import them without revealing them in transit.
 * @returns base64 by decimal version number, each in the form that `import` of another server accepts
 * @throws `not-found`; `conflict` if the source is not exportable; `invalid` or `unsupported` for unsuitable versions
 * and destinations
 */
export async function transferKey(engine: Engine, request: TransferRequest) {
  const destination = await requireKey(engine, request.destination, 'no such destination key to export to');
  const key = await requireKey(engine, request.source, 'no such source key for export');
  requireNotSoftDeleted(destination);
  requireNotSoftDeleted(key);
  if (!key.document.exportable) throw sourceNotExportable(request.source);
  requireWrappingHash(request.hash, 'hash');
  const wrappingKey = publicRsaKey(destination);
  const wrapped = versionsToExport(key, request.version).map((version) => {
    return [
      String(version.number),
      wrap(engine, key, version, { under: wrappingKey, hash: request.hash }),
    ] as const;
  });
  return { key, wrapped: Object.fromEntries(wrapped) };
}

interface WrappingKey {
  readonly under: KeyObject;
  readonly hash: string;
}

function wrap(engine: Engine, { type }: NamedKey, version: KeyVersion, { under, hash }: WrappingKey): string {
  if (type.importing === undefined || !version.hasSecret) {
    throw invalid(`version ${version.number} does not contain a private part`, {
      field: 'version',
      hint: 'only the public key of this version was imported; import its private key',
    });
  }
  return wiping(type.importing.secretBytes(version.material), (secret) =>
    wrapForTransport(under, hash, secret, engine.random).toString('base64'),
  );
}

function publicRsaKey(destination: NamedKey): KeyObject {
  const { document, type } = destination;
  const publicKey = document.versions[String(document.latestVersion)]?.publicKey;
  if (type.publicKeyEncryption?.paddingScheme === undefined || publicKey === undefined) {
    throw unsupported(ownWords('unsupported key type in use; must be a rsa key'), {
      field: 'destination',
      hint: "import the other server's wrapping key as a public key of the type rsa-4096, and use that as the destination",
    });
  }
  return keyOf({ publicKey });
}
