import { attempt } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { openBackupBlob } from './blob.ts';

/** Returns the name of the key in a backup, for messages; undefined if it cannot be read. */
export function nameInBackup(backup: string): string | undefined {
  const document: unknown = attempt(() => JSON.parse(openBackupBlob(backup)));
  const policy = isObject(document) ? document['policy'] : undefined;
  const name = isObject(policy) ? policy['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}
