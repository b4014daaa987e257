import { CALLER_NONCE_BYTES } from '../convergent.ts';
import { KDF_COUNTER, KDF_HKDF, type Kdf, type KeyType } from '../key-types/key-type.ts';
import type { BackupDocument, BackupEntry, BackupPolicy } from './document.ts';
import { inconsistentBackup } from './refusal.ts';

/** Convergent versions of a key: 1 to 3, -1 for "the versions say", 0 for none. */
const CONVERGENT_VERSIONS = [-1, 0, 1, 2, 3];
const PLACEHOLDER = '{{version}}';
/** What a key writes must be readable again, so something that is no digit ends the number; and it goes to terminals. */
const VERSION_TEMPLATE = /^[\x21-\x7e]*\{\{version\}\}(?!\d)[\x21-\x7e]+$/;

/** How contexts give keys; a number that is neither was refused by {@link checkSettings}. */
export const kdfOf = (policy: BackupPolicy): Kdf => (policy.kdf === KDF_HKDF ? KDF_HKDF : KDF_COUNTER);

/**
 * What a key's settings must satisfy together, beside its versions. Texts of the version rules are those of peers.
 * @throws `invalid` naming the first that does not hold.
 */
export function checkSettings({ policy, archivedKeys = [] }: BackupDocument, type: KeyType): void {
  checkVersionNumbers(policy);
  checkDerivation(policy, type);
  checkConvergentVersions(policy, [...policy.keys.values(), ...archivedKeys], type);
  if (policy.keySize < 0 || (type.size && policy.keySize > type.size.maximumBytes)) {
    throw inconsistentBackup(policy.name, `key size of ${policy.keySize} is out of range`);
  }
  if (policy.versionTemplate !== '' && !isVersionTemplate(policy.versionTemplate)) {
    throw inconsistentBackup(policy.name, 'error parsing version template');
  }
  if (policy.autoRotatePeriodNanoseconds < 0n || policy.autoRotatePeriodNanoseconds >= 2n ** 63n) {
    throw inconsistentBackup(policy.name, 'auto rotate period is out of range');
  }
}

const isVersionTemplate = (text: string): boolean =>
  text.split(PLACEHOLDER).length === 2 && VERSION_TEMPLATE.test(text);

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
