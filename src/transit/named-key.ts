import { createSecretKey, type KeyObject } from 'node:crypto';
import { wipe } from '../ground/bytes.ts';
import { corrupt } from '../ground/errors.ts';
import { ContextKeys, OpenMaterial } from './context-keys.ts';
import type { Engine } from './engine.ts';
import type { NamedKeyDocument, VersionDocument } from './key-document.ts';
import { keyTypeNamed } from './key-types/index.ts';
import type { FamilyName, KeyType } from './key-types/key-type.ts';

/** All that matters of an engine here: who asks. */
export type Asking = Pick<Engine, 'keepsFamilyRules'>;

/**
 * A named key ready for use: its document, its type, and parsed key material, each piece made when first asked for.
 * Documents of the store are the same object for as long as they are unchanged, so the work is done once.
 * @see docs/decisions/0010
 */
export class NamedKey {
  static readonly #opened = new WeakMap<NamedKeyDocument, NamedKey>();

  readonly document: NamedKeyDocument;
  readonly type: KeyType;
  readonly #versions = new Map<number, KeyVersion>();

  /** @throws `corrupt` when this release does not know the key's type. */
  static open(document: NamedKeyDocument): NamedKey {
    const known = NamedKey.#opened.get(document);
    if (known !== undefined) return known;
    const key = new NamedKey(document);
    NamedKey.#opened.set(document, key);
    return key;
  }

  private constructor(document: NamedKeyDocument) {
    const type = keyTypeNamed(document.type);
    if (type === undefined) {
      throw corrupt(`key "${document.name}" has the unknown type ${document.type}`, {
        hint: 'it was written by a newer release; update this one',
      });
    }
    this.document = document;
    this.type = type;
  }

  /** The family's name by which the key was made, if it was. */
  get familyName(): FamilyName | undefined {
    const { familyName } = this.document;
    return this.type.familyNames?.find(({ name }) => name === familyName);
  }

  /** The same, if the caller is of the family. */
  familyNameFor({ keepsFamilyRules }: Asking): FamilyName | undefined {
    return keepsFamilyRules ? this.familyName : undefined;
  }

  /** What its type is called to this caller. */
  typeNameFor(asking: Asking): string {
    return this.familyNameFor(asking)?.name ?? this.type.name;
  }

  get encrypts(): boolean {
    return this.type.aead !== undefined || this.type.publicKeyEncryption !== undefined;
  }

  /** A version that may be used: not trimmed, and not below the minimum for decryption. */
  version(number: number): KeyVersion | undefined {
    return number < this.document.minDecryptionVersion ? undefined : this.storedVersion(number);
  }

  /** A version that exists, whether or not it may be used. */
  storedVersion(number: number): KeyVersion | undefined {
    const known = this.#versions.get(number);
    if (known !== undefined) return known;
    const stored = this.document.versions[String(number)];
    if (stored === undefined) return undefined;
    const version = new KeyVersion(number, stored, this);
    this.#versions.set(number, version);
    return version;
  }

  /** Those that may be used, oldest first. */
  *usableVersions(): Generator<KeyVersion> {
    const { minDecryptionVersion, latestVersion } = this.document;
    for (let number = minDecryptionVersion; number <= latestVersion; number++) {
      const version = this.storedVersion(number);
      if (version !== undefined) yield version;
    }
  }
}

/** One version of a named key. Key objects are made when they are first needed, and kept. */
export class KeyVersion {
  readonly number: number;
  readonly document: VersionDocument;
  readonly #key: NamedKey;
  #own: OpenMaterial | undefined;
  #hmacKey: KeyObject | undefined;
  #contextKeys: ContextKeys | undefined;

  constructor(number: number, document: VersionDocument, key: NamedKey) {
    this.number = number;
    this.document = document;
    this.#key = key;
  }

  /** False for an imported public key. */
  get hasSecret(): boolean {
    return this.document.secret !== undefined;
  }

  /** The version's own key, not that of a context. */
  get own(): OpenMaterial {
    const { type } = this.#key;
    this.#own ??= new OpenMaterial(type, type.open(this.document));
    return this.#own;
  }

  /** What the functions of the key's type take. */
  get material(): unknown {
    return this.own.material;
  }

  /** The keys of contexts, for a derived key. */
  get contextKeys(): ContextKeys {
    const { type, document } = this.#key;
    this.#contextKeys ??= new ContextKeys(type, document, this.document, () => this.material);
    return this.#contextKeys;
  }

  /** The key for HMACs, or undefined in some very old versions. */
  get hmacKey(): KeyObject | undefined {
    if (this.#hmacKey === undefined && this.document.hmacKey !== undefined) {
      const bytes = Buffer.from(this.document.hmacKey, 'base64');
      this.#hmacKey = createSecretKey(bytes);
      wipe(bytes);
    }
    return this.#hmacKey;
  }
}
