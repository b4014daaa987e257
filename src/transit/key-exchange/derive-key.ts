import type { KeyObject } from 'node:crypto';
import { wipe, wiping } from '../../ground/bytes.ts';
import { type CofferError, invalid, notFound, ownWords, unsupported } from '../../ground/errors.ts';
import { hkdfExpand, hkdfExtract } from '../context-keys.ts';
import type { Engine } from '../engine.ts';
import { KEY_NAME } from '../key-document.ts';
import { DEFAULT_KEY_TYPE, encryptionTypeNames, encryptMakes, keyTypeNamed } from '../key-types/index.ts';
import type { KeyType, StoredMaterial } from '../key-types/key-type.ts';
import { findKey, type KeyVersion, keyIn, keyRef, NamedKey, requireNotSoftDeleted } from '../named-key.ts';
import { versionOf, withVersion } from '../rotation.ts';
import { LATEST, requireVersion } from '../version-choice.ts';
import { type ImportSettings, importedDocument, parsed } from './import-key.ts';
import { requireImported } from './import-version.ts';

/** Parameters of a key derivation. */
interface KeyDerivation {
  readonly algorithm: string;
  /** PEM. */
  readonly peerPublicKey: string;
  /** Named key whose private key is used. */
  readonly baseKeyName: string;
  /** 0 for the latest. */
  readonly baseKeyVersion: number;
  /** Name of a key type, case-insensitive; undefined for that of the existing key, else the default. */
  readonly type: string | undefined;
}

const ALGORITHM = 'ecdh';

/**
 * Derives a key from a key of this mount and a peer's public key: HKDF-SHA256 (RFC 5869) without salt and info over the
 * x-coordinate of their ECDH. The holder of the peer's private key can compute it as well. The result is an imported
 * key, which can be neither exported nor rotated; an existing imported key of that name gets one more version.
 * @throws `not-found` without the base key; `unsupported`; `conflict` if the name is that of a key that was not
 * imported; `invalid` for invalid parameters
 */
export async function deriveKey(engine: Engine, name: string, wanted: KeyDerivation): Promise<NamedKey> {
  if (wanted.algorithm !== ALGORITHM) {
    throw refusal(
      `key derivation algorithm ${wanted.algorithm} not supported`,
      'key_derivation_algorithm',
      `use ${ALGORITHM}`,
    );
  }
  if (wanted.peerPublicKey === '') {
    throw refusal(
      ownWords('peer public key not provided'),
      'peer_public_key',
      'use the public key of the peer in PEM',
    );
  }
  const wantedType = wanted.type === undefined ? undefined : requireDerivableType(wanted.type);
  const inputKey = await agreedInputKey(engine, wanted);
  return engine.store.transact(async (tx) => {
    const key = await keyIn(tx, engine, name);
    if (key !== undefined) requireImported(key, 'derive-key can add a version to an imported key only');
    const derived = wantedType ?? derivableType(key);
    const type = key?.type ?? derived;
    const material = await derivedMaterial(inputKey, derived, type);
    if (type !== derived) {
      throw refusal(
        `error importing key: invalid key type: expected ${type.name}, got ${derived.name}`,
        'derived_key_type',
        'omit derived_key_type, or use another name',
      );
    }
    const document =
      key === undefined
        ? importedDocument(engine, name, { type, material, settings: IMPORTED })
        : withVersion(key.document, versionOf(engine, type, material));
    tx.put(keyRef(engine, name), document);
    return NamedKey.open(document);
  });
}

const IMPORTED: ImportSettings = {
  allowRotation: false,
  derived: false,
  exportable: false,
  allowPlaintextBackup: false,
  autoRotatePeriodSeconds: 0,
};

/** Finds a type whose keys are random bytes, case-insensitive. */
function requireDerivableType(name: string): KeyType {
  const type = keyTypeNamed(name.toLowerCase());
  if (type !== undefined && encryptMakes(type)) return type;
  throw refusal(
    `unknown key type ${name}`,
    'derived_key_type',
    `use one of ${encryptionTypeNames().join(', ')}`,
  );
}

/** Returns the default type: that of the existing key, if it is suitable. */
const derivableType = (key: NamedKey | undefined): KeyType =>
  key !== undefined && encryptMakes(key.type) ? key.type : requireDerivableType(DEFAULT_KEY_TYPE);

/** Computes the shared input key of this base key and peer. */
async function agreedInputKey(engine: Engine, wanted: KeyDerivation): Promise<KeyObject> {
  const { baseKeyName: name } = wanted;
  const base = KEY_NAME.test(name) ? await findKey(engine, name) : undefined;
  if (base === undefined) {
    throw notFound(ownWords('specified base key not found'), {
      field: 'base_key_name',
      hint: 'use the name of an ECDSA key of this mount',
    });
  }
  const { agreement } = base.type;
  if (agreement === undefined) {
    throw unsupported(`base key type ${base.type.name} does not support key agreement`, {
      field: 'base_key_name',
      hint: 'use an ECDSA key',
    });
  }
  requireNotSoftDeleted(base);
  const { material } = baseVersion(base, wanted.baseKeyVersion);
  return wiping(await agreement.secretWith(material, wanted.peerPublicKey), hkdfExtract);
}

function baseVersion(base: NamedKey, requested: number): KeyVersion {
  const { latestVersion, minAvailableVersion } = base.document;
  const limits: readonly [broken: boolean, text: string][] = [
    [requested > latestVersion, 'higher than the latest key version'],
    [requested < 0, 'negative'],
    [requested !== LATEST && requested < minAvailableVersion, 'less than the minimum available key version'],
  ];
  const wrong = limits.find(([broken]) => broken);
  if (wrong !== undefined) {
    throw refusal(
      `requested version of the base key is ${wrong[1]}`,
      'base_key_version',
      `the oldest is ${Math.max(minAvailableVersion, 1)}, the latest ${latestVersion}`,
    );
  }
  const version = requireVersion(base, requested === LATEST ? latestVersion : requested);
  if (version.hasSecret) return version;
  throw unsupported(ownWords('requested version of the base key does not contain a private part'), {
    field: 'base_key_version',
    hint: 'only the public key of this version was imported; import its private key',
  });
}

/**
 * Derives the key material.
 * @param derived determines the number of bytes
 * @param type type of the new key
 */
async function derivedMaterial(
  inputKey: KeyObject,
  derived: KeyType,
  type: KeyType,
): Promise<StoredMaterial> {
  const { derivation } = derived;
  const { importing } = type;
  if (derivation === undefined || importing === undefined)
    throw new TypeError('the type cannot be imported from bytes');
  const bytes = hkdfExpand(inputKey, NO_INFO, derivation.keyBytes);
  try {
    return await parsed(() => importing.secret(bytes), 'derived_key_type');
  } finally {
    wipe(bytes);
  }
}

const NO_INFO = Buffer.alloc(0);

const refusal = (message: string, field: string, hint: string): CofferError =>
  invalid(message, { field, hint });
