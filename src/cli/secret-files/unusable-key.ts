import { isObject } from '../../ground/objects.ts';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import type { SealedValue } from '../../secret-files/value.ts';
import type { Session } from '../session.ts';
import { SHARING } from '../team/found-values.ts';

/** Reason why a value is not decrypted, and what to do about it. */
export interface RefusalReason {
  readonly message: string;
  readonly hint: string;
}

/**
 * Finds out whether the key does not decrypt a value because it was soft-deleted, or because it has no such version or
 * does not use it any more.
 * @returns undefined for another reason, and if the key cannot be read
 */
export async function unusableKey(
  session: Session,
  { mount, key, version }: SealedValue,
): Promise<RefusalReason | undefined> {
  const runner = await session.runner();
  const outcome = await runner.run('transit keys read', { name: key }, mount).catch(() => undefined);
  const data = isObject(outcome?.data) ? outcome.data : {};
  const ofMount = mount === DEFAULT_MOUNT ? '' : ` --mount ${mount}`;
  const has = (member: string): boolean => {
    const versions = data[member];
    return Array.isArray(versions) && versions.includes(version);
  };
  if (data['soft_deleted'] === true) {
    return {
      message: `key "${key}" is soft-deleted`,
      hint: `run "coffer transit keys soft-delete-restore ${key}${ofMount}" to use it again`,
    };
  }
  if (has('revoked_versions')) {
    return {
      message: `version ${version} of key "${key}" is revoked`,
      hint: `to use it again, run "coffer transit keys reinstate ${key} ${version}${ofMount}"`,
    };
  }
  if (has('destroyed_versions')) {
    return {
      message: `version ${version} of key "${key}" was destroyed`,
      hint: 'its key material was deleted and cannot be restored',
    };
  }
  if (version > Number(data['latest_version'])) {
    return {
      message: `key "${key}" has no version ${version}`,
      hint: `the value was encrypted with another store, or this store was restored from an older backup; ${SHARING}`,
    };
  }
  if (version < Number(data['min_available_version'])) {
    return {
      message: `version ${version} of key "${key}" was trimmed`,
      hint: 'its key material was deleted; if a backup of the store still has it, run "coffer store restore FILE --store DIR", and decrypt the file with that store',
    };
  }
  if (version < Number(data['min_decryption_version'])) {
    return {
      message: `version ${version} of key "${key}" is no longer allowed to decrypt`,
      hint: `run "coffer transit keys config ${key} --min-decryption-version ${version}${ofMount}" to allow it again, then rewrap the file`,
    };
  }
  return undefined;
}
