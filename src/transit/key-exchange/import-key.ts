import { conflict, invalid } from '../../ground/errors.ts';
import type { View } from '../../store/store.ts';
import type { Engine } from '../engine.ts';
import { keyIn, keyRef } from '../key-collection.ts';
import { keyTypeNamed, keyTypeNames } from '../key-types/index.ts';
import type { KeyType, StoredMaterial } from '../key-types/key-type.ts';
import { emptyDocument, requireCapabilities } from '../lifecycle.ts';
import { NamedKey } from '../named-key.ts';
import { versionOf, withVersion } from '../rotation.ts';
import { type Incoming, importedMaterial } from './imported-material.ts';

/** A key from outside, and what it is to be here. */
export interface NewImport extends Incoming {
  /** Name of a key type, in any case. */
  readonly type: string;
  /** The key may be rotated; its next versions are then made here. */
  readonly allowRotation: boolean;
  readonly derived: boolean;
  readonly exportable: boolean;
  readonly allowPlaintextBackup: boolean;
  /** 0 for never. */
  readonly autoRotatePeriodSeconds: number;
}

/**
 * Makes a key of material from outside.
 * @throws `conflict` when the name is taken; `invalid` or `unsupported` for material that is no such key.
 */
export async function importKey(engine: Engine, name: string, settings: NewImport): Promise<NamedKey> {
  if (settings.autoRotatePeriodSeconds > 0 && !settings.allowRotation) {
    throw invalid('allow_rotation must be set to true if auto-rotation is enabled', {
      field: 'allow_rotation',
    });
  }
  const type = requireImportType(settings.type);
  await engine.store.read((view) => requireFreeName(view, engine, name));
  const { derived } = settings;
  requireCapabilities(type, { derived, convergentEncryption: false });
  const material = await importedMaterial(engine, type, settings, derived);
  const empty = emptyDocument(name, {
    ...settings,
    type: type.name,
    convergentEncryption: false,
    keyBytes: type.size === undefined ? 0 : secretBytes(material),
  });
  const document = {
    ...withVersion(empty, versionOf(engine, type, material)),
    imported: true,
    allowImportedKeyRotation: settings.allowRotation,
  };
  return engine.store.transact(async (tx) => {
    await requireFreeName(tx, engine, name);
    tx.put(keyRef(engine, name), document);
    return NamedKey.open(document);
  });
}

/** Unlike at creation, the case does not matter, and peers print a colon. */
function requireImportType(name: string): KeyType {
  const type = keyTypeNamed(name.toLowerCase());
  if (type !== undefined) return type;
  throw invalid(`unknown key type: ${name}`, {
    field: 'type',
    hint: `use one of ${keyTypeNames().join(', ')}`,
  });
}

async function requireFreeName(view: View, engine: Engine, name: string): Promise<void> {
  if ((await keyIn(view, engine, name)) === undefined) return;
  throw conflict(
    'the import path cannot be used with an existing key; use import-version to rotate an existing imported key',
    { field: 'name', hint: 'give another name, or import a version of this key' },
  );
}

const secretBytes = ({ secret = '' }: StoredMaterial): number => Buffer.byteLength(secret, 'base64');
