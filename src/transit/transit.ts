import type { ListOptions } from '../store/store.ts';
import type { Restoring } from './backup/restore-key.ts';
import type { ItemResult } from './batch.ts';
import { type Configured, configureKey, type KeyConfiguration } from './configuration.ts';
import { type DataKey, type DataKeyRequest, dataKey } from './data-key.ts';
import { type DecryptItem, decrypt } from './decrypt.ts';
import { type EncryptItem, type EncryptOptions, encrypt } from './encrypt.ts';
import { type Engine, type EngineOptions, engineOf } from './engine.ts';
import { type ExportedKey, type ExportRequest, exportKey } from './export.ts';
import { hash } from './hashing.ts';
import { type HmacItem, type HmacOptions, hmac } from './hmac.ts';
import type { Encrypted } from './key-cipher.ts';
import { findKey, requireKey } from './key-collection.ts';
import type { TransferableKey, TransferRequest } from './key-exchange/byok-export.ts';
import type { NewImport } from './key-exchange/import-key.ts';
import type { NewVersionImport } from './key-exchange/import-version.ts';
import { createKey, deleteKey, listKeys, type NewKey, setSoftDeleted } from './lifecycle.ts';
import { applyCacheSize, changeSettings, type MountSettings, readSettings } from './mount-settings.ts';
import type { NamedKey } from './named-key.ts';
import { type RandomBytes, type RandomRequest, randomBytes } from './random-bytes.ts';
import { type RewrapItem, rewrap } from './rewrap.ts';
import { rotateDueKeys, rotateKey } from './rotation.ts';
import { type SignatureRequest, type Signed, type SignItem, sign } from './signing.ts';
import { trimKey } from './trim.ts';
import { type VerifyItem, verify } from './verification.ts';

/**
 * The transit engine of one mount. Each method is described where it is done, in the file of its name.
 * Operations on several items answer with one result for each, in order.
 */
export class Transit {
  /** What an operation in a file of its own takes. */
  readonly engine: Engine;

  constructor(options: EngineOptions) {
    this.engine = engineOf(options);
  }

  createKey(name: string, settings: NewKey): Promise<NamedKey> {
    return createKey(this.engine, name, settings);
  }

  /** @throws `not-found` */
  readKey(name: string): Promise<NamedKey> {
    return requireKey(this.engine, name, 'key not found');
  }

  async hasKey(name: string): Promise<boolean> {
    return (await findKey(this.engine, name)) !== undefined;
  }

  listKeys(options: ListOptions = {}): Promise<string[]> {
    return listKeys(this.engine, options);
  }

  deleteKey(name: string): Promise<void> {
    return deleteKey(this.engine, name);
  }

  setSoftDeleted(name: string, softDeleted: boolean): ReturnType<typeof setSoftDeleted> {
    return setSoftDeleted(this.engine, name, softDeleted);
  }

  configureKey(name: string, change: KeyConfiguration): Promise<Configured> {
    return configureKey(this.engine, name, change);
  }

  rotateKey(name: string, options: { readonly force?: boolean } = {}): Promise<NamedKey> {
    return rotateKey(this.engine, name, options.force ?? false);
  }

  rotateDueKeys(): Promise<string[]> {
    return rotateDueKeys(this.engine);
  }

  trimKey(name: string, oldest: number | undefined): Promise<NamedKey> {
    return trimKey(this.engine, name, oldest);
  }

  exportKey(name: string, request: ExportRequest): Promise<ExportedKey> {
    return exportKey(this.engine, name, request);
  }

  encrypt(
    name: string,
    items: readonly EncryptItem[],
    options: EncryptOptions,
  ): Promise<ItemResult<Encrypted>[]> {
    return encrypt(this.engine, name, items, options);
  }

  decrypt(name: string, items: readonly DecryptItem[]): Promise<ItemResult<Buffer>[]> {
    return decrypt(this.engine, name, items);
  }

  rewrap(name: string, items: readonly RewrapItem[]): Promise<ItemResult<Encrypted>[]> {
    return rewrap(this.engine, name, items);
  }

  dataKey(name: string, request: DataKeyRequest): Promise<DataKey> {
    return dataKey(this.engine, name, request);
  }

  hmac(name: string, items: readonly HmacItem[], options: HmacOptions): Promise<ItemResult<string>[]> {
    return hmac(this.engine, name, items, options);
  }

  sign(
    name: string,
    items: readonly SignItem[],
    request: SignatureRequest & { readonly keyVersion: number },
  ): Promise<ItemResult<Signed>[]> {
    return sign(this.engine, name, items, request);
  }

  verify(
    name: string,
    items: readonly VerifyItem[],
    request: SignatureRequest,
    options: { readonly single: boolean },
  ): Promise<ItemResult<boolean>[]> {
    return verify(this.engine, name, items, request, options.single);
  }

  /** @see hash in hashing.ts */
  hash(input: string | undefined, algorithm: string, format: string): string {
    return hash(input, algorithm, format);
  }

  randomBytes(request: RandomRequest): RandomBytes {
    return randomBytes(this.engine, request);
  }

  // What moves keys in and out is rare and heavy, so it is loaded when it is asked for.

  async backupKey(name: string): Promise<string> {
    return (await import('./backup/backup-key.ts')).backupKey(this.engine, name);
  }

  async restoreKey(restoring: Restoring): Promise<NamedKey> {
    return (await import('./backup/restore-key.ts')).restoreKey(this.engine, restoring);
  }

  async importKey(name: string, settings: NewImport): Promise<NamedKey> {
    return (await import('./key-exchange/import-key.ts')).importKey(this.engine, name, settings);
  }

  async importVersion(name: string, incoming: NewVersionImport): Promise<NamedKey> {
    return (await import('./key-exchange/import-version.ts')).importVersion(this.engine, name, incoming);
  }

  async wrappingPublicKey(): Promise<string> {
    return (await import('./key-exchange/wrapping-key.ts')).wrappingPublicKey(this.engine);
  }

  async transferKey(request: TransferRequest): Promise<TransferableKey> {
    return (await import('./key-exchange/byok-export.ts')).transferKey(this.engine, request);
  }

  readSettings(): Promise<MountSettings> {
    return readSettings(this.engine);
  }

  /** @see applyCacheSize in mount-settings.ts */
  applyCacheSize(): Promise<void> {
    return applyCacheSize(this.engine);
  }

  changeSettings(change: Partial<MountSettings>): Promise<MountSettings> {
    return changeSettings(this.engine, change);
  }
}
