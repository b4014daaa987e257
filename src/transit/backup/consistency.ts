import { encodeBase64 } from '../../ground/base64.ts';
import { CofferError, invalid } from '../../ground/errors.ts';
import { OTHER_KEY, publicKeyOf, readCertificate, UNREADABLE } from '../certificates/certificate.ts';
import { CALLER_NONCE_BYTES } from '../convergent.ts';
import { KDF_COUNTER, KDF_HKDF, type Kdf, type KeyType, type StoredMaterial } from '../key-types/key-type.ts';
import type { BackupDocument, BackupEntry, BackupPolicy } from './document.ts';
import { GO_ZERO_TIME } from './go-fields.ts';

/** What the parts of a backup must satisfy together before the key is believed. @see docs/decisions/0023 */

const HINT = 'the backup is damaged or was altered';

/** Settings or versions that do not fit each other. What follows the colon is in the words of peers where they have any. */
const inconsistentBackup = (name: string, text: string): CofferError =>
  invalid(`failed to restore the policy "${name}": ${text}`, { field: 'backup', hint: HINT });

/** Something about one version. */
export const damagedVersion = (number: number, text: string): CofferError =>
  invalid(`backup cannot be restored: version ${number}: ${text}`, { field: 'backup', hint: HINT });

/** Convergent versions of a key: 1 to 3, -1 for "the versions say", 0 for none. */
const CONVERGENT_VERSIONS = [-1, 0, 1, 2, 3];
const PLACEHOLDER = '{{version}}';
/** What a key writes must be readable again, so something that is no digit ends the number; and it goes to terminals. */
const PRINTABLE = /^[\x21-\x7e]+$/;
const READABLE_VERSION = /\{\{version\}\}\D/;

/** How contexts give keys; a number that is neither was refused by {@link checkSettings}. */
export const kdfOf = (policy: BackupPolicy): Kdf => (policy.kdf === KDF_HKDF ? KDF_HKDF : KDF_COUNTER);

/**
 * What a key's settings must satisfy together, beside its versions. Texts of the version rules are those of peers.
 * @throws `invalid` naming the first that does not hold.
 */
export function checkSettings({ policy, archivedKeys = [], own }: BackupDocument, type: KeyType): void {
  checkVersionNumbers(policy);
  checkDerivation(policy, type);
  checkConvergentVersions(policy, entriesOf({ policy, archivedKeys, ...(own && { own }) }), type);
  if (policy.keySize < 0 || (type.size && policy.keySize > type.size.maximumBytes)) {
    throw inconsistentBackup(policy.name, `key size of ${policy.keySize} is out of range`);
  }
  if (policy.versionTemplate !== '' && !isVersionTemplate(policy.versionTemplate)) {
    throw inconsistentBackup(policy.name, 'error parsing version template');
  }
  if (own !== undefined && (own.keepVersions < 0 || (own.autoTrim && own.keepVersions === 0))) {
    throw inconsistentBackup(
      policy.name,
      `number of versions to keep of ${own.keepVersions} is out of range`,
    );
  }
  if (policy.autoRotatePeriodNanoseconds < 0n) {
    throw inconsistentBackup(policy.name, 'auto rotate period is out of range');
  }
  // Nothing is kept below it here, but peers that take the key over would store it there.
  if (isRelative(policy.storagePrefix)) {
    throw inconsistentBackup(policy.name, 'relative paths not supported');
  }
}

/** A path that may lead out of the place that it is meant for; by the rule of peers. */
export const isRelative = (path: string): boolean => path.includes('..');

/** It stands in front of every ciphertext. */
const MAX_TEMPLATE_LENGTH = 512;

const isVersionTemplate = (text: string): boolean =>
  text.length <= MAX_TEMPLATE_LENGTH &&
  text.split(PLACEHOLDER).length === 2 &&
  PRINTABLE.test(text) &&
  READABLE_VERSION.test(text);

/** Of all places where a backup has versions. */
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
 * From the oldest version that a key may have to its latest. A number alone costs the author of a document nothing, but
 * whoever takes the key over counts up to it, now and in every backup; so many empty places fill the longest one.
 */
const MOST_VERSIONS = 100_000;

/**
 * The versions that a backup holds, oldest first. A version may be in the ring (`keys`) and in the archive; the ring is newer.
 * One that is in neither is lost, as it was for the server that wrote the backup; the key does without.
 * @throws `invalid` when the latest version is lost, or a version is there that should not be.
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
  // Said before anything is counted up to: the numbers may be absurd.
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
 * What restoring may take beside what was sent for it: a few bytes can unfold to very many versions, and each of an asymmetric
 * key has to be computed with.
 * @see docs/decisions/0112
 */
const FREE_MS = 5_000;
/** Of the text of a backup as it was sent; those that peers write have a kilobyte for every millisecond. */
const CHARACTERS_PER_MS = 256;

/** @throws `too-large` when checking the versions would take longer than the length of the backup justifies. */
export function checkWork(versions: number, type: KeyType, characters: number): void {
  const ms = versions * (type.backup.readMs ?? 0);
  if (ms <= FREE_MS + characters / CHARACTERS_PER_MS) return;
  throw new CofferError(
    'too-large',
    `backup has ${versions} versions of ${type.name}, too many for its length`,
    {
      field: 'backup',
      hint: 'give it uncompressed, as the backup was made',
    },
  );
}

/**
 * Versions that a key of this program has and may not use, oldest first.
 * @throws `invalid` when one is used as well, or should not be there.
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
      throw inconsistentBackup(name, `version ${JSON.stringify(version.slice(0, 20))} can't be revoked`);
    }
    yield [Number(version), entry];
  }
}

const isBetween = (key: string, oldest: number, latest: number): boolean =>
  /^[1-9]\d{0,14}$/.test(key) && Number(key) >= oldest && Number(key) <= latest;

/** As Go writes a version that is not there. */
const isEmpty = (entry: BackupEntry): boolean =>
  entry.time === GO_ZERO_TIME &&
  entry.creationTime === 0 &&
  entry.key === undefined &&
  entry.ec === undefined &&
  entry.rsa === undefined &&
  entry.rsaPublic === undefined &&
  entry.publicKey === undefined;

/**
 * Checks the certificates that came with a version, the leaf first.
 * @throws `invalid` when one cannot be read, or the leaf is for another key.
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
