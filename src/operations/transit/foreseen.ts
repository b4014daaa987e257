import type { CofferError } from '../../ground/errors.ts';
import { isObject, type JsonObject } from '../../ground/objects.ts';
import { backupRefusal } from '../../transit/backup/refusal.ts';
import { deletionNotAllowed } from '../../transit/lifecycle.ts';
import { requireOldVersion } from '../../transit/revocation.ts';
import { requireTrimmable } from '../../transit/rotation.ts';
import { type Runner, resultOf } from '../declaration/operation.ts';

/*
 * Refusals of key commands that ask for confirmation, or for the secret of the store again, found before they ask.
 * @see docs/decisions/0269
 */

/**
 * Checks that a key exists.
 * @throws `not-found`
 */
export async function foreseeKey({ name }: JsonObject, runner: Runner): Promise<JsonObject> {
  const key = resultOf(await runner.run('transit keys read', { name }));
  return isObject(key) ? key : {};
}

/**
 * Checks that a key may be deleted.
 * @throws `not-found`; `conflict` if it may not
 */
export async function foreseeDeletion(values: JsonObject, runner: Runner): Promise<void> {
  const key = await foreseeKey(values, runner);
  if (key['deletion_allowed'] === false) throw deletionNotAllowed(String(values['name']));
}

/**
 * Checks that a key may be trimmed.
 * @throws as `trimKey`
 */
export async function foreseeTrim(values: JsonObject, runner: Runner): Promise<void> {
  requireTrimmable(limitsOf(await foreseeKey(values, runner)), Number(values['min_available_version']));
}

/**
 * Checks that a version may be destroyed.
 * @throws as `destroyVersion`, except for a version that is not stored
 */
export async function foreseeDestruction(values: JsonObject, runner: Runner): Promise<void> {
  requireOldVersion(limitsOf(await foreseeKey(values, runner)), Number(values['version']));
}

/**
 * Checks that secrets of a key may leave the store.
 * @param refusal creates the error of the operation
 * @throws `not-found`; `conflict` if they may not
 */
export async function foreseeExport(
  name: unknown,
  runner: Runner,
  refusal: (name: string) => CofferError,
): Promise<void> {
  const key = await foreseeKey({ name }, runner);
  if (key['exportable'] === false) throw refusal(String(name));
}

/**
 * Checks that a key may be backed up.
 * @throws `not-found`; as `backupKey` if it may not
 */
export async function foreseeBackup(values: JsonObject, runner: Runner): Promise<void> {
  const key = await foreseeKey(values, runner);
  const refusal = backupRefusal({
    name: String(values['name']),
    exportable: key['exportable'] !== false,
    allowPlaintextBackup: key['allow_plaintext_backup'] !== false,
  });
  if (refusal !== undefined) throw refusal;
}

const limitsOf = (key: JsonObject) => ({
  name: String(key['name']),
  latestVersion: Number(key['latest_version']),
  minAvailableVersion: Number(key['min_available_version']),
  minEncryptionVersion: Number(key['min_encryption_version']),
  minDecryptionVersion: Number(key['min_decryption_version']),
});
