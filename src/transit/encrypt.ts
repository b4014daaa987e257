import { decodeBase64 } from '../ground/base64.ts';
import { type CofferError, denied, invalid, ownWords, unsupported } from '../ground/errors.ts';
import {
  type CipherItem,
  eachItem,
  hasContext,
  type ItemResult,
  requireItems,
  requireUniformContext,
} from './batch.ts';
import { decodeContext } from './context-keys.ts';
import type { Engine } from './engine.ts';
import { type Encrypted, KeyCipher, oaepHashOf, requirePaddingScheme } from './key-cipher.ts';
import type { NamedKeyDocument } from './key-document.ts';
import { encryptionTypeNames, encryptMakes, parameterSetsOf } from './key-types/index.ts';
import type { KeyType } from './key-types/key-type.ts';
import { newDocument, requireKeyType } from './lifecycle.ts';
import { readSettings } from './mount-settings.ts';
import { findKey, keyIn, keyRef, NamedKey, noSuchKey } from './named-key.ts';
import { rotatedWhenDue } from './rotation.ts';
import { LATEST } from './version-choice.ts';

export interface EncryptItem extends CipherItem {
  readonly plaintext?: string | undefined;
  /** 0 or absent for the latest. */
  readonly keyVersion?: number | undefined;
}

export interface EncryptOptions {
  /** Type of a key that this call creates. */
  readonly type: string;
  /** Whether a key that this call creates is convergent. */
  readonly convergentEncryption: boolean;
  /** Whether the caller may create the key if it does not exist. */
  readonly mayCreate: boolean;
  /** Whether the caller may use an existing key. */
  readonly mayUpdate: boolean;
  /** Called if this call has created the key. */
  readonly onCreated?: () => void;
}

const NO_KEY = 'encryption key not found';

/**
 * Encrypts messages; results are in the order of the items. If there is no key of this name and the caller may create
 * one, it is created, `derived` if and only if a context is given, but only if at least one item was encrypted.
 * @throws `not-found`, `denied`; `invalid` for errors that affect the whole call
 */
export async function encrypt(
  engine: Engine,
  name: string,
  items: readonly EncryptItem[],
  options: EncryptOptions,
): Promise<ItemResult<Encrypted>[]> {
  requireItems(items);
  requireUniformContext(engine, items);
  for (;;) {
    const key = await findKey(engine, name);
    if (key !== undefined) {
      if (!options.mayUpdate) throw denied(ownWords('permission denied'), { field: 'name' });
      return encryptAll(engine, await rotatedWhenDue(engine, key), items);
    }
    const results = await createAndEncrypt(engine, name, items, options);
    if (results !== undefined) return results;
  }
}

function encryptAll(
  engine: Engine,
  key: NamedKey,
  items: readonly EncryptItem[],
): Promise<ItemResult<Encrypted>[]> {
  const cipher = new KeyCipher(engine, key);
  return eachItem(items, (item, index) => {
    if (item.plaintext === undefined) throw missingPlaintext();
    const plaintext = decodeBase64(item.plaintext, 'plaintext');
    const context = decodeContext(item.context);
    requirePaddingScheme(key, item.paddingScheme, 'padding_scheme', index);
    const oaepHash = oaepHashOf(key, item.hashAlgorithm, 'hash_algorithm');
    const { keyVersion = LATEST, associatedData, nonce } = item;
    return cipher.encrypt({ plaintext, context, keyVersion, associatedData, nonce, oaepHash }, index);
  });
}

/**
 * Encrypts with a key that does not exist yet, and stores the key if that produced a ciphertext. No lock is held while
 * encrypting.
 * @returns undefined if another caller created the key in the meantime
 * @see docs/decisions/0013
 */
async function createAndEncrypt(
  engine: Engine,
  name: string,
  items: readonly EncryptItem[],
  options: EncryptOptions,
): Promise<ItemResult<Encrypted>[] | undefined> {
  if (!options.mayCreate) throw noSuchKey(name, NO_KEY);
  const { convergentEncryption } = options;
  if (convergentEncryption && engine.keepsFamilyRules && !hasContext(items[0]))
    throw needsContext(items.length);
  const type = requireCreatableType(options.type);
  if ((await readSettings(engine)).disableUpsert) throw noSuchKey(name, NO_KEY);
  const make = (derived: boolean): Promise<NamedKeyDocument> =>
    newDocument(engine, name, type, {
      type: type.name,
      derived,
      convergentEncryption,
      exportable: false,
      allowPlaintextBackup: false,
      autoRotatePeriodSeconds: 0,
      keyBytes: 0,
    });
  const document = convergentEncryption ? await make(true) : await documentFor(engine, items, make);
  const fitting = convergentEncryption ? items.map(withContext) : items;
  const results = await encryptAll(engine, NamedKey.open(document), fitting);
  if (results.every((result) => 'error' in result)) return results;
  const isCreated = await engine.store.transact(async (tx) => {
    if ((await keyIn(tx, engine, name)) !== undefined) return false;
    tx.put(keyRef(engine, name), document);
    return true;
  });
  if (!isCreated) return undefined;
  options.onCreated?.();
  return results;
}

/**
 * Creates the document of the key, derived if and only if a context is given. If items differ in this, the first that
 * can be encrypted decides, as if it came alone.
 */
async function documentFor(
  engine: Engine,
  items: readonly EncryptItem[],
  make: (derived: boolean) => Promise<NamedKeyDocument>,
): Promise<NamedKeyDocument> {
  const first = hasContext(items[0]);
  const usual = await make(first);
  const at = items.findIndex((item) => hasContext(item) !== first);
  if (at < 0) return usual;
  const other = await make(!first);
  for (const item of items) {
    const document = hasContext(item) === first ? usual : other;
    const [result] = await encryptAll(engine, NamedKey.open(document), [item]);
    if (result !== undefined && 'value' in result) return document;
  }
  return usual;
}

const withContext = (item: EncryptItem, _at: number, { length }: readonly EncryptItem[]): EncryptItem =>
  hasContext(item) || item.problem !== undefined ? item : { ...item, problem: needsContext(length) };

const needsContext = (items: number): CofferError =>
  invalid(ownWords('convergent encryption requires derivation to be enabled, so context is required'), {
    field: 'context',
    hint: items === 1 ? 'set a context' : 'set a context for every item',
  });

function requireCreatableType(name: string): KeyType {
  const { type } = requireKeyType(name, parameterSetsOf(name)?.[0]);
  if (encryptMakes(type)) return type;
  const encrypts = type.publicKeyEncryption !== undefined;
  const instead = encrypts
    ? `run "coffer transit keys create NAME --type ${name}" first`
    : 'this type cannot encrypt';
  throw unsupported(`key type ${name} not supported for this operation`, {
    field: 'type',
    hint: `encrypt creates only keys of the types ${encryptionTypeNames().join(', ')}; ${instead}`,
  });
}

const missingPlaintext = () =>
  invalid(ownWords('missing plaintext to encrypt'), {
    field: 'plaintext',
    hint: 'give it in base64; it may be empty',
  });
