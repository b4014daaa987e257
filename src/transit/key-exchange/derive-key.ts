import type { KeyObject } from 'node:crypto';
import { wipe } from '../../ground/bytes.ts';
import { type CofferError, invalid, notFound, unsupported } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import { hkdfExpand, hkdfExtract } from '../derivation.ts';
import type { Engine } from '../engine.ts';
import { findKey, keyIn, keyRef, requireNotSoftDeleted } from '../key-collection.ts';
import { KEY_NAME } from '../key-document.ts';
import { DEFAULT_KEY_TYPE, encryptMakes, keyTypeNamed, keyTypes } from '../key-types/index.ts';
import type { KeyType, StoredMaterial } from '../key-types/key-type.ts';
import { type KeyVersion, NamedKey } from '../named-key.ts';
import { versionOf, withVersion } from '../rotation.ts';
import { LATEST, requireVersion } from '../version-choice.ts';
import { type ImportSettings, importedDocument, parsed } from './import-key.ts';
import { requireImported } from './import-version.ts';

/** What a key is derived from, and what it is to be. */
export interface KeyDerivation {
  readonly algorithm: string;
  /** PEM. */
  readonly peerPublicKey: string;
  /** The named key whose private half counts. */
  readonly baseKeyName: string;
  /** 0 for the latest. */
  readonly baseKeyVersion: number;
  /** Name of a key type, in any case; undefined for that of the key that is there, else the usual one. */
  readonly type: string | undefined;
}

const ALGORITHM = 'ecdh';

/**
 * Makes a key of what a key of this mount and somebody else's public key have in common: HKDF-SHA256 (RFC 5869) without salt and info
 * over the x-coordinate of their ECDH. Whoever has the other private key can compute it. It is an imported key, which can be
 * neither exported nor rotated; when there is an imported key of that name, it gets one more version.
 * @throws `not-found` without the base key; `unsupported`; `conflict` when the name is that of a key that was made here;
 * `invalid` for what was given.
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
      'give the public key of the other side in PEM',
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
        'leave it out, or give another name',
      );
    }
    const document =
      key === undefined
        ? importedDocument(engine, name, type, material, IMPORTED)
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

/** A type of which every key is some random bytes, in any case. */
function requireDerivableType(name: string): KeyType {
  const type = keyTypeNamed(name.toLowerCase());
  if (type !== undefined && encryptMakes(type)) return type;
  const derivable = keyTypes().filter(encryptMakes);
  throw refusal(
    `unknown key type ${name}`,
    'derived_key_type',
    `use one of ${derivable.map((known) => known.name).join(', ')}`,
  );
}

/** Where the caller names none: that of the key that is there, if it can be one. */
const derivableType = (key: NamedKey | undefined): KeyType =>
  key !== undefined && encryptMakes(key.type) ? key.type : requireDerivableType(DEFAULT_KEY_TYPE);

/** What every key of this base and this peer is made of. */
async function agreedInputKey(engine: Engine, wanted: KeyDerivation): Promise<KeyObject> {
  const { baseKeyName: name } = wanted;
  const base = KEY_NAME.test(name) ? await findKey(engine, name) : undefined;
  if (base === undefined) {
    throw notFound(ownWords('specified base key not found'), {
      field: 'base_key_name',
      hint: 'give the name of an ECDSA key of this mount',
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
  const secret = await agreement.secretWith(material, wanted.peerPublicKey);
  try {
    return hkdfExtract(secret);
  } finally {
    wipe(secret);
  }
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
      `the latest is ${latestVersion}`,
    );
  }
  const version = requireVersion(base, requested === LATEST ? latestVersion : requested);
  if (version.hasSecret) return version;
  throw unsupported(ownWords('requested version of the base key does not contain a private part'), {
    field: 'base_key_version',
    hint: 'only the public key of this version was imported; import its private key',
  });
}

/** @param derived says how many bytes. @param type whose key they are to be. */
async function derivedMaterial(
  inputKey: KeyObject,
  derived: KeyType,
  type: KeyType,
): Promise<StoredMaterial> {
  const { derivation } = derived;
  const { importing } = type;
  if (derivation === undefined || importing === undefined) throw new TypeError('the type takes no bytes');
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
