import type { BackupDocument, BackupEntry } from './document.ts';
import { GO_ZERO_TIME } from './go-time.ts';
import { inconsistentBackup } from './refusal.ts';

/**
 * From the oldest version that a key may have to its latest. A number alone costs the author of a document nothing, but
 * whoever takes the key over counts up to it, now and in every backup; so many empty places fill the longest one.
 */
const MOST_VERSIONS = 100_000;

/**
 * The versions that a backup holds, oldest first. A version may be in the ring (`keys`) and in the archive; the ring is newer.
 * Without an archive, versions below the minimum for decryption are gone, as they were for the server that wrote it.
 * @throws `invalid` when a version that should be there is not, or one is there that should not be.
 */
export function* availableVersions(
  { policy, archivedKeys }: BackupDocument,
  name: string,
): Generator<[number, BackupEntry]> {
  const { latestVersion, minDecryptionVersion } = policy;
  const oldest = Math.max(1, policy.minAvailableVersion);
  const stray = [...policy.keys.keys()].find((key) => !isBetween(key, oldest, latestVersion));
  if (stray !== undefined) {
    throw inconsistentBackup(
      name,
      `${JSON.stringify(stray.slice(0, 20))} is not a version from ${oldest} to ${latestVersion}`,
    );
  }
  const archived = archivedKeys?.filter((entry) => !isEmpty(entry)).length ?? 0;
  const expectsAll = archived > 0;
  // Said before anything is counted up to: the numbers may be absurd.
  const first = expectsAll ? oldest : minDecryptionVersion;
  if (latestVersion - first >= policy.keys.size + archived) {
    throw inconsistentBackup(name, `not every version from ${first} to ${latestVersion} is there`);
  }
  if (latestVersion - oldest >= MOST_VERSIONS) {
    throw inconsistentBackup(name, `more than ${MOST_VERSIONS} versions from ${oldest} to ${latestVersion}`);
  }
  for (let number = oldest; number <= latestVersion; number++) {
    const entry = policy.keys.get(String(number)) ?? archivedKeys?.[number - policy.archiveMinVersion];
    if (entry !== undefined && !isEmpty(entry)) yield [number, entry];
    else if (number >= first) throw inconsistentBackup(name, `version ${number} is missing`);
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
