import { decodeBase64 } from '../../ground/base64.ts';
import { wipe } from '../../ground/bytes.ts';
import { CofferError, exists, invalid, ownWords, unsupported } from '../../ground/errors.ts';
import { refusePrivateKey } from '../../ground/private-key-text.ts';
import type { View } from '../../store/store.ts';
import type { Engine } from '../engine.ts';
import type { NamedKeyDocument } from '../key-document.ts';
import {
  type DerivationMode,
  KDF_COUNTER,
  KDF_HKDF,
  type KeyType,
  type StoredMaterial,
} from '../key-types/key-type.ts';
import { emptyDocument, type NewKey, requireCapabilities, requireKeyType } from '../lifecycle.ts';
import { keyIn, keyRef, NamedKey } from '../named-key.ts';
import { versionOf, withVersion } from '../rotation.ts';
import { requireWrappingHash, unwrapFromTransport, wrappingKey } from './wrapping.ts';

/** Settings of an imported key. */
export interface ImportSettings extends Omit<NewKey, 'type' | 'convergentEncryption' | 'keyBytes'> {
  /** Whether the key may be rotated; later versions are generated here then. */
  readonly allowRotation: boolean;
}

/** Key material to import, with the settings of the new key. */
export interface NewImport extends Incoming, ImportSettings {
  /** Name of a key type, or Vault's name, case-insensitive. */
  readonly type: string;
  /** Parameter set that Vault's name may need; empty for none. */
  readonly parameterSet?: string;
}

/**
 * Imports a key.
 * @throws `exists` if the name is taken; `invalid` or `unsupported` for material that is not such a key
 */
export async function importKey(engine: Engine, name: string, settings: NewImport): Promise<NamedKey> {
  if (settings.autoRotatePeriodSeconds > 0 && !settings.allowRotation) {
    throw invalid(ownWords('allow_rotation must be set to true if auto-rotation is enabled'), {
      field: 'allow_rotation',
    });
  }
  // Unlike on creation, the name is case-insensitive, and Vault's message has a colon.
  const { type, familyName } = requireKeyType(
    settings.type.toLowerCase(),
    settings.parameterSet,
    'unknown key type:',
  );
  await engine.store.read((view) => requireFreeName(view, engine, name));
  const { derived } = settings;
  requireCapabilities(type, { derived, convergentEncryption: false });
  const material = await importedMaterial(engine, type, settings, derived);
  const document = importedDocument(engine, name, {
    type,
    material,
    settings: {
      ...settings,
      familyName: familyName?.name,
    },
  });
  return engine.store.transact(async (tx) => {
    await requireFreeName(tx, engine, name);
    tx.put(keyRef(engine, name), document);
    return NamedKey.open(document);
  });
}

interface ImportedKey {
  readonly type: KeyType;
  readonly material: StoredMaterial;
  readonly settings: ImportSettings;
}

/** Creates the document of an imported key, without storing it. */
export function importedDocument(
  engine: Engine,
  name: string,
  { type, material, settings }: ImportedKey,
): NamedKeyDocument {
  const empty = emptyDocument(name, {
    ...settings,
    type: type.name,
    convergentEncryption: false,
    keyBytes: type.size === undefined ? 0 : secretBytes(material),
  });
  return {
    ...withVersion(empty, versionOf(engine, type, material)),
    kdf: importedKdf(type, settings.derived),
    imported: true,
    allowImportedKeyRotation: settings.allowRotation,
  };
}

/**
 * Returns the key derivation function of an imported key: Vault's if the type supports it, so that the same key yields
 * the same context keys in both.
 * @see docs/decisions/0127
 */
const importedKdf = ({ derivation }: KeyType, derived: boolean): DerivationMode =>
  !derived || derivation?.kdfs.includes(KDF_COUNTER) ? KDF_COUNTER : KDF_HKDF;

async function requireFreeName(view: View, engine: Engine, name: string): Promise<void> {
  if ((await keyIn(view, engine, name)) === undefined) return;
  throw exists(
    ownWords(
      'the import path cannot be used with an existing key; use import-version to rotate an existing imported key',
    ),
    {
      field: 'name',
      hint: `use another name; "coffer transit import-version ${name}" adds a version to an imported key`,
    },
  );
}

const secretBytes = ({ secret = '' }: StoredMaterial): number => Buffer.byteLength(secret, 'base64');

/** Key material to import. If both are given, the wrapped key is used, as in Vault. */
export interface Incoming {
  /** Base64 of the key, wrapped under the mount's wrapping key. */
  readonly ciphertext?: string;
  /** Name of the OAEP hash with which it is wrapped, case-insensitive. */
  readonly hashFunction: string;
  /** Public key only, SubjectPublicKeyInfo in PEM. */
  readonly publicKey?: string;
}

/**
 * Unwraps and parses imported material.
 * @param derived whether contexts derive keys from this one, for which a public key alone is useless
 * @throws `invalid` or `unsupported` with Vault's messages
 */
export async function importedMaterial(
  engine: Engine,
  type: KeyType,
  incoming: Incoming,
  derived: boolean,
): Promise<StoredMaterial> {
  requireWrappingHash(incoming.hashFunction, 'hash_function');
  const { publicKey = '' } = incoming;
  refusePrivateKey(publicKey, 'public_key');
  const { importing } = type;
  if (importing === undefined) throw unsupported(`unknown key type: ${type.name}`, { field: 'type' });
  if (incoming.ciphertext) {
    const blob = decodeBase64(incoming.ciphertext, 'ciphertext');
    const secret = unwrapFromTransport(await wrappingKey(engine), incoming.hashFunction, blob);
    try {
      return await parsed(() => importing.secret(secret));
    } finally {
      wipe(secret);
    }
  }
  const readPublicKey = importing.publicKey;
  if (readPublicKey === undefined) {
    throw unsupported(ownWords('provided type does not support public_key import'), {
      field: 'public_key',
      // Most callers left the type out, which is that of a symmetric key then.
      hint:
        type.publicKey === undefined
          ? `keys of type ${type.name} have no public key: set the type of this one, such as ed25519 or rsa-2048`
          : 'import the private key',
    });
  }
  if (derived) {
    throw refusedImport(
      'unable to import only public key for derived Ed25519 key: imported key should not be an Ed25519 key pair but is instead an HKDF key',
      { field: 'public_key', hint: 'import the private key' },
    );
  }
  return parsed(() => readPublicKey(publicKey));
}

const refusedImport = (message: string, details: ConstructorParameters<typeof CofferError>[2]): CofferError =>
  invalid(`error importing key: ${message}`, details);

/**
 * Parses material, with Vault's error message, which is followed by the reason.
 * @param instead name of the invalid parameter, if it is not the imported material
 */
export async function parsed(
  read: () => StoredMaterial | Promise<StoredMaterial>,
  instead?: string,
): Promise<StoredMaterial> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof CofferError)) throw error;
    const { message, field, hint } = error;
    throw refusedImport(message, { field: instead ?? field, hint });
  }
}
