import { decodeBase64 } from '../../ground/base64.ts';
import { wipe } from '../../ground/bytes.ts';
import { CofferError, exists, invalid, unsupported } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import type { View } from '../../store/store.ts';
import type { Engine } from '../engine.ts';
import { keyIn, keyRef } from '../key-collection.ts';
import type { NamedKeyDocument } from '../key-document.ts';
import { KDF_COUNTER, KDF_HKDF, type Kdf, type KeyType, type StoredMaterial } from '../key-types/key-type.ts';
import { emptyDocument, requireCapabilities, requireKeyType } from '../lifecycle.ts';
import { NamedKey } from '../named-key.ts';
import { versionOf, withVersion } from '../rotation.ts';
import { requireWrappingHash, unwrapFromTransport, wrappingKey } from './wrapping.ts';

/** What a key from outside is to be here. */
export interface ImportSettings {
  /** The key may be rotated; its next versions are then made here. */
  readonly allowRotation: boolean;
  readonly derived: boolean;
  readonly exportable: boolean;
  readonly allowPlaintextBackup: boolean;
  /** 0 for never. */
  readonly autoRotatePeriodSeconds: number;
  /** The family's name for the type, where the key is made by that one. */
  readonly familyName?: string | undefined;
}

/** A key from outside, and what it is to be here. */
export interface NewImport extends Incoming, ImportSettings {
  /** Name of a key type, or one of the family's, in any case. */
  readonly type: string;
  /** What a name of the family's may need beside it; empty for none. */
  readonly parameterSet?: string;
}

/**
 * Makes a key of material from outside.
 * @throws `exists` when the name is taken; `invalid` or `unsupported` for material that is no such key.
 */
export async function importKey(engine: Engine, name: string, settings: NewImport): Promise<NamedKey> {
  if (settings.autoRotatePeriodSeconds > 0 && !settings.allowRotation) {
    throw invalid(ownWords('allow_rotation must be set to true if auto-rotation is enabled'), {
      field: 'allow_rotation',
    });
  }
  // Unlike at creation, the case does not matter, and peers print a colon.
  const { type, familyName } = requireKeyType(
    settings.type.toLowerCase(),
    settings.parameterSet,
    'unknown key type:',
  );
  await engine.store.read((view) => requireFreeName(view, engine, name));
  const { derived } = settings;
  requireCapabilities(type, { derived, convergentEncryption: false });
  const material = await importedMaterial(engine, type, settings, derived);
  const document = importedDocument(engine, name, type, material, {
    ...settings,
    familyName: familyName?.name,
  });
  return engine.store.transact(async (tx) => {
    await requireFreeName(tx, engine, name);
    tx.put(keyRef(engine, name), document);
    return NamedKey.open(document);
  });
}

/** A key of material from outside, not stored yet. */
export function importedDocument(
  engine: Engine,
  name: string,
  type: KeyType,
  material: StoredMaterial,
  settings: ImportSettings,
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
 * How contexts give keys of an imported one: where the type can, in the way of peers, so that the same key from outside makes
 * the same keys of contexts here and there.
 * @see docs/decisions/0127
 */
const importedKdf = ({ derivation }: KeyType, derived: boolean): Kdf =>
  !derived || derivation?.kdfs.includes(KDF_COUNTER) ? KDF_COUNTER : KDF_HKDF;

async function requireFreeName(view: View, engine: Engine, name: string): Promise<void> {
  if ((await keyIn(view, engine, name)) === undefined) return;
  throw exists(
    ownWords(
      'the import path cannot be used with an existing key; use import-version to rotate an existing imported key',
    ),
    { field: 'name', hint: 'give another name, or import a version of this key' },
  );
}

const secretBytes = ({ secret = '' }: StoredMaterial): number => Buffer.byteLength(secret, 'base64');

/** Key material from outside. When both are given, the wrapped key counts, as it does for peers. */
export interface Incoming {
  /** Base64 of the key, wrapped under the mount's wrapping key. */
  readonly ciphertext?: string;
  /** Name of the OAEP hash under which it is wrapped, in any case. */
  readonly hashFunction: string;
  /** A public key alone, SubjectPublicKeyInfo in PEM. */
  readonly publicKey?: string;
}

/**
 * Unwraps and parses what was brought in.
 * @param derived the key is one that contexts are derived from, for which a public key alone is of no use.
 * @throws `invalid` or `unsupported` in the words of peers.
 */
export async function importedMaterial(
  engine: Engine,
  type: KeyType,
  incoming: Incoming,
  derived: boolean,
): Promise<StoredMaterial> {
  requireWrappingHash(incoming.hashFunction, 'hash_function');
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
  const { publicKey = '' } = incoming;
  const readPublicKey = importing.publicKey;
  if (readPublicKey === undefined) {
    throw unsupported(ownWords('provided type does not support public_key import'), {
      field: 'public_key',
      hint: 'give the wrapped key as ciphertext',
    });
  }
  if (derived) {
    throw refusedImport(
      'unable to import only public key for derived Ed25519 key: imported key should not be an Ed25519 key pair but is instead an HKDF key',
      { field: 'public_key', hint: 'give the wrapped private key as ciphertext' },
    );
  }
  return parsed(() => readPublicKey(publicKey));
}

const refusedImport = (message: string, details: ConstructorParameters<typeof CofferError>[2]): CofferError =>
  invalid(`error importing key: ${message}`, details);

/**
 * Peers say of every key that a type does not take that it could not be imported, and then why.
 * @param instead the parameter that is wrong, where none is what was imported.
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
