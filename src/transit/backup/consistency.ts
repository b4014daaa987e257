import { encodeBase64 } from '../../ground/base64.ts';
import { CofferError, invalid } from '../../ground/errors.ts';
import { OTHER_KEY, publicKeyOf, readCertificate, UNREADABLE } from '../certificates/certificate.ts';
import { CALLER_NONCE_BYTES } from '../context-keys.ts';
import {
  type DerivationMode,
  KDF_COUNTER,
  KDF_HKDF,
  type KeyType,
  type StoredMaterial,
} from '../key-types/key-type.ts';
import type { BackupDocument, BackupEntry, BackupPolicy } from './document.ts';
import { GO_ZERO_TIME } from './go-fields.ts';

/**
 * Consistency checks across the parts of a backup, before it is trusted.
 * @see docs/decisions/0023
 */

const HINT = 'the backup is damaged or was modified';

/**
 * Creates the error for inconsistent settings or versions. The text after the colon is Vault-compatible where Vault has
 * one.
 */
const inconsistentBackup = (name: string, text: string): CofferError =>
  invalid(`failed to restore the policy "${name}": ${text}`, { field: 'backup', hint: HINT });

/** Creates the error for a problem of one version. */
export const damagedVersion = (number: number, text: string): CofferError =>
  invalid(`backup cannot be restored: version ${number}: ${text}`, { field: 'backup', hint: HINT });

/** Values of a key's convergent version: 1 to 3, -1 for "see the versions", 0 for none. */
const CONVERGENT_VERSIONS = [-1, 0, 1, 2, 3];
const PLACEHOLDER = '{{version}}';
/**
 * Template characters are printed to terminals, and ciphertexts must be parseable: a character that is not a digit ends
 * the version number.
 */
const PRINTABLE = /^[\x21-\x7e]+$/;
const READABLE_VERSION = /\{\{version\}\}\D/;

/** Returns the key derivation function of a policy; {@link checkSettings} has refused unknown numbers. */
export const kdfOf = (policy: BackupPolicy): DerivationMode =>
  policy.kdf === KDF_HKDF ? KDF_HKDF : KDF_COUNTER;

/**
 * Checks that a key's settings are consistent, apart from its versions. Messages of the version rules are
 * Vault-compatible.
 * @throws `invalid` for the first violation
 */
export function checkSettings({ policy, archivedKeys = [], own }: BackupDocument, type: KeyType): void {
  checkVersionNumbers(policy);
  checkDerivation(policy, type);
  checkConvergentVersions(policy, entriesOf({ policy, archivedKeys, own }), type);
  if (policy.keySize < 0 || (type.size && policy.keySize > type.size.maximumBytes)) {
    throw inconsistentBackup(policy.name, `key size of ${policy.keySize} is out of range`);
  }
  if (policy.versionTemplate !== '' && !isVersionTemplate(policy.versionTemplate)) {
    throw inconsistentBackup(policy.name, 'error parsing version template');
  }
  if (own !== undefined && (own.keepVersions < 0 || (own.autoTrim && own.keepVersions === 0))) {
    throw inconsistentBackup(policy.name, `keep_versions of ${own.keepVersions} is out of range`);
  }
  if (policy.autoRotatePeriodNanoseconds < 0n) {
    throw inconsistentBackup(policy.name, 'auto rotate period is out of range');
  }
  // Coffer stores nothing below this path, but a Vault or OpenBao server that restores the key would.
  if (isRelative(policy.storagePrefix)) {
    throw inconsistentBackup(policy.name, 'relative paths not supported');
  }
}

/** Whether a path may lead out of its directory; by the rule of Vault and OpenBao. */
export const isRelative = (path: string): boolean => path.includes('..');

/** Maximum length of a version template, which starts every ciphertext. */
const MAX_TEMPLATE_LENGTH = 512;

const isVersionTemplate = (text: string): boolean =>
  text.length <= MAX_TEMPLATE_LENGTH &&
  text.split(PLACEHOLDER).length === 2 &&
  PRINTABLE.test(text) &&
  READABLE_VERSION.test(text);

/** Returns the versions in all parts of a backup. */
export const entriesOf = ({ policy, archivedKeys = [], own }: BackupDocument): BackupEntry[] => [
  ...policy.keys.values(),
  ...archivedKeys,
  ...[...(own?.revokedVersions.values() ?? [])].filter((entry) => entry !== undefined),
];

function checkVersionNumbers(policy: BackupPolicy): void {
  const { minDecryptionVersion: minDecryption, minEncryptionVersion: minEncryption } = policy;
  const { latestVersion: latest, minAvailableVersion: minAvailable, archiveVersion: archive } = policy;
  const rules: [broken: boolean, text: string][] = [
    [minDecryption < 1, `minimum decryption version of ${minDecryption} is less than 1`],
    [latest < 1, `latest version of ${latest} is less than 1`],
    [
      !policy.keys.has(String(minDecryption)) && archive !== latest,
      'need to move keys from archive but archive version not up-to-date',
    ],
    [archive > latest, `archive version of ${archive} is greater than the latest version ${latest}`],
    [
      minEncryption > 0 && minEncryption < minDecryption,
      `minimum decryption version of ${minDecryption} is greater than minimum encryption version ${minEncryption}`,
    ],
    [
      minDecryption > latest,
      `minimum decryption version of ${minDecryption} is greater than the latest version ${latest}`,
    ],
    [minEncryption < 0, 'min encryption version cannot be negative'],
    [
      minEncryption > latest,
      `cannot set min encryption version of ${minEncryption}, latest key version is ${latest}`,
    ],
    [minAvailable < 0 || policy.archiveMinVersion < 0, 'minimum available version cannot be negative'],
    [minAvailable > minDecryption, 'min decryption version should not be less then min available version'],
  ];
  const broken = rules.find(([isBroken]) => isBroken);
  if (broken !== undefined) throw inconsistentBackup(policy.name, broken[1]);
}

function checkDerivation(policy: BackupPolicy, type: KeyType): void {
  const { derived, kdf, convergentEncryption } = policy;
  if (kdf !== KDF_COUNTER && kdf !== KDF_HKDF)
    throw inconsistentBackup(policy.name, `unknown key derivation function ${kdf}`);
  if (convergentEncryption && !derived) {
    throw inconsistentBackup(policy.name, 'convergent encryption requires derivation to be enabled');
  }
  if (convergentEncryption && type.aead === undefined) {
    throw inconsistentBackup(
      policy.name,
      `convergent encryption not supported for keys of type ${type.name}`,
    );
  }
  if (derived && !type.derivation?.kdfs.some((known) => known === kdf)) {
    throw inconsistentBackup(
      policy.name,
      `key derivation not supported for keys of type ${type.name} in this mode`,
    );
  }
}

function checkConvergentVersions(policy: BackupPolicy, entries: readonly BackupEntry[], type: KeyType): void {
  const versions = [policy, ...entries].map(({ convergentVersion }) => convergentVersion);
  const unknown = versions.find((version) => !CONVERGENT_VERSIONS.includes(version));
  if (unknown !== undefined) throw inconsistentBackup(policy.name, `unknown convergent version ${unknown}`);
  const givesNonces = policy.convergentEncryption && versions.includes(1);
  if (givesNonces && type.aead?.nonceBytes !== CALLER_NONCE_BYTES) {
    throw inconsistentBackup(policy.name, `convergent version 1 not supported for keys of type ${type.name}`);
  }
}

/**
 * Maximum range from the oldest version of a key to the latest. A large number costs the author of a document nothing,
 * but a server that restores the key counts up to it, then and in every backup. This many empty places fill the longest
 * backup.
 */
const MOST_VERSIONS = 100_000;

/**
 * Yields the versions in a backup, oldest first. A version may be in the ring (`keys`) and in the archive; the ring is
 * newer. A version that is in neither is lost, as it was for the server that wrote the backup; the key works without
 * it.
 * @throws `invalid` if the latest version is lost, or an unexpected version exists
 * @see docs/decisions/0130
 */
export function* availableVersions(
  { policy, archivedKeys }: BackupDocument,
  name: string,
): Generator<[number, BackupEntry]> {
  const { latestVersion } = policy;
  const oldest = Math.max(1, policy.minAvailableVersion);
  const stray = [...policy.keys.keys()].find((key) => !isBetween(key, oldest, latestVersion));
  if (stray !== undefined) {
    throw inconsistentBackup(
      name,
      `${JSON.stringify(stray.slice(0, 20))} is not a version from ${oldest} to ${latestVersion}`,
    );
  }
  const entryOf = (number: number): BackupEntry | undefined => {
    const inRing = policy.keys.get(String(number));
    if (inRing !== undefined && !isEmpty(inRing)) return inRing;
    const archived = archivedKeys?.[number - policy.archiveMinVersion];
    return archived === undefined || isEmpty(archived) ? undefined : archived;
  };
  // Check this before counting up to the numbers, which may be absurd.
  if (entryOf(latestVersion) === undefined) {
    throw inconsistentBackup(name, `version ${latestVersion}, the latest, is missing`);
  }
  if (latestVersion - oldest >= MOST_VERSIONS) {
    throw inconsistentBackup(name, `more than ${MOST_VERSIONS} versions from ${oldest} to ${latestVersion}`);
  }
  for (let number = oldest; number <= latestVersion; number++) {
    const entry = entryOf(number);
    if (entry !== undefined) yield [number, entry];
  }
}

/**
 * Restoring time, in milliseconds, that is allowed regardless of the backup's length: a few bytes can decompress to
 * very many versions, and each one of an asymmetric key costs computation.
 * @see docs/decisions/0112
 */
const FREE_MS = 5_000;
/**
 * Characters of the backup's text that justify one more millisecond; backups of Vault and OpenBao have a kilobyte per
 * millisecond.
 */
const CHARACTERS_PER_MS = 256;

/**
 * Limits the work of a restore.
 * @throws `too-large` if checking the versions would take longer than the length of the backup justifies
 */
export function checkWork(versions: number, type: KeyType, characters: number): void {
  const ms = versions * (type.backup.readMs ?? 0);
  if (ms <= FREE_MS + characters / CHARACTERS_PER_MS) return;
  throw new CofferError(
    'too-large',
    `backup has too many versions for its length: ${versions} of type ${type.name}`,
    {
      field: 'backup',
      hint: 'use the uncompressed backup, as it was printed',
    },
  );
}

/**
 * Yields the revoked versions of a Coffer key, oldest first.
 * @throws `invalid` if one is usable as well, or should not exist
 */
export function* revokedVersions(
  { policy, own }: BackupDocument,
  available: ReadonlySet<number>,
  name: string,
): Generator<[number, BackupEntry | undefined]> {
  const oldest = Math.max(1, policy.minAvailableVersion);
  const latestOld = policy.latestVersion - 1;
  for (const [version, entry] of own?.revokedVersions ?? []) {
    const isFit =
      isBetween(version, oldest, latestOld) &&
      !available.has(Number(version)) &&
      (entry === undefined || !isEmpty(entry));
    if (!isFit) {
      throw inconsistentBackup(name, `version ${JSON.stringify(version.slice(0, 20))} cannot be revoked`);
    }
    yield [Number(version), entry];
  }
}

const isBetween = (key: string, oldest: number, latest: number): boolean =>
  /^[1-9]\d{0,14}$/.test(key) && Number(key) >= oldest && Number(key) <= latest;

/** Whether an entry is the one that Go writes for a missing version. */
const isEmpty = (entry: BackupEntry): boolean =>
  entry.time === GO_ZERO_TIME &&
  entry.creationTime === 0 &&
  entry.key === undefined &&
  entry.ec === undefined &&
  entry.rsa === undefined &&
  entry.rsaPublic === undefined &&
  entry.publicKey === undefined;

/**
 * Checks the certificate chain of a version, leaf first.
 * @throws `invalid` if a certificate cannot be parsed, or the leaf is for another key
 */
export function checkCertificateChain(
  chain: readonly Uint8Array[],
  material: StoredMaterial,
  version: number,
): void {
  const [leaf] = chain.map((der) => {
    const certificate = readCertificate(der);
    if (certificate === undefined) throw damagedVersion(version, UNREADABLE);
    return certificate;
  });
  if (leaf === undefined) return;
  const certified = publicKeyOf(leaf)?.export({ format: 'der', type: 'spki' });
  if (certified === undefined || encodeBase64(certified) !== material.publicKey) {
    throw damagedVersion(version, OTHER_KEY);
  }
}
