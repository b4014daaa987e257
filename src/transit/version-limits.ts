import type { NamedKeyDocument } from './key-document.ts';

/** Members of a key that decide which of its versions may be used. */
type VersionLimits = Pick<
  NamedKeyDocument,
  'name' | 'minAvailableVersion' | 'minEncryptionVersion' | 'minDecryptionVersion' | 'keepVersions'
>;

/**
 * Returns the setting of a key that does not allow a version, and what allows it again.
 * @param version below the minimum
 */
export function limitHint(key: VersionLimits, version: number, by: 'encryption' | 'decryption'): string {
  const { name, minAvailableVersion, minEncryptionVersion, minDecryptionVersion, keepVersions } = key;
  const minimum = by === 'encryption' ? minEncryptionVersion : minDecryptionVersion;
  const limit = `min_${by}_version of this key is ${minimum}`;
  if (version < 1) return limit;
  if (version < minAvailableVersion) return `${limit}, and version ${version} was deleted`;
  if (keepVersions !== undefined && version < minDecryptionVersion)
    return `${limit}: the key keeps its latest ${keepVersions === 1 ? 'version' : `${keepVersions} versions`} usable`;
  const settings = [
    ...(version < minDecryptionVersion ? ['decryption'] : []),
    ...(by === 'encryption' ? ['encryption'] : []),
  ].map((setting) => ` --min-${setting}-version ${version}`);
  return `${limit}; to allow version ${version} again, run "coffer transit keys config ${name}${settings.join('')}"`;
}
