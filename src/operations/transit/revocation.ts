/** Operations that stop all use of a key or of one version, and undo that. */

import type { JsonObject } from '../../ground/objects.ts';
import type { Engine } from '../../transit/engine.ts';
import { setSoftDeleted } from '../../transit/lifecycle.ts';
import { noSuchKey } from '../../transit/named-key.ts';
import { destroyVersion, reinstateVersion, revokeVersion } from '../../transit/revocation.ts';
import { isMissing, unlessUnexpected } from '../declaration/deleting.ts';
import type { Outcome, Runner } from '../declaration/operation.ts';
import { integer } from '../declaration/params.ts';
import { foreseeDestruction, foreseeKey } from './foreseen.ts';
import { type KeyData, keyData, keyTable } from './key-data.ts';
import { eachKey, existingKey, transitOperation } from './parameters.ts';

const acting = { acts: true, table: keyTable } as const;

/** Counts 1 if the key shows that the operation will change nothing. */
const already =
  (isSo: (key: JsonObject, version: number) => boolean) =>
  async (values: JsonObject, runner: Runner): Promise<number> => {
    const key = await foreseeKey(values, runner).catch(unlessUnexpected);
    return key !== undefined && isSo(key, Number(values['version'])) ? 1 : 0;
  };

/** Fails for a missing key on the command line; the API returns an empty response. */
async function requireThere(raw: Readonly<Record<string, unknown>>, runner: Runner) {
  const { name } = raw;
  if (!(await isMissing(runner, 'transit keys read', { name }))) return raw;
  throw noSuchKey(String(name), `key "${name}" not found`);
}

const isMarked = (key: JsonObject): boolean => key['soft_deleted'] === true;

export const softDelete = transitOperation({
  route: 'DELETE keys/:name/soft-delete',
  withoutSecret: true,
  params: { name: eachKey },
  cli: {
    ...acting,
    resolve: requireThere,
    unchanged: already(isMarked),
    done: (values, _data, _existing, unchanged) =>
      `${unchanged === 1 ? `No changes made: key ${values['name']} is already soft-deleted. To restore it` : `Soft-deleted key ${values['name']}. To undo this`}, run "coffer transit keys soft-delete-restore ${values['name']}".`,
    examples: {
      'coffer transit keys soft-delete orders': 'Stop every use of a key; "soft-delete-restore" undoes that',
    },
  },
  run: ({ engine }, values) =>
    markSoftDeleted(engine, values.name, true, 'key was already marked as soft deleted'),
});

export const restoreDeleted = transitOperation({
  route: 'POST keys/:name/soft-delete-restore',
  withoutSecret: true,
  params: { name: eachKey },
  cli: {
    ...acting,
    resolve: requireThere,
    unchanged: already((key) => !isMarked(key)),
    done: (values, _data, _existing, unchanged) =>
      unchanged === 1
        ? `No changes made: key ${values['name']} is not soft-deleted.`
        : `Restored key ${values['name']}.`,
    examples: { 'coffer transit keys soft-delete-restore orders': 'Use a soft-deleted key again' },
  },
  run: ({ engine }, values) => markSoftDeleted(engine, values.name, false, 'key was already restored'),
});

/**
 * Soft-deletes a key, or restores it; the response for a missing key is empty.
 * @param unchanged warning if nothing changed
 */
async function markSoftDeleted(
  engine: Engine,
  name: string,
  softDeleted: boolean,
  unchanged: string,
): Promise<Outcome<KeyData>> {
  const marked = await setSoftDeleted(engine, name, softDeleted);
  if (marked === undefined) return {};
  return { data: keyData(engine, marked.key), warnings: marked.changed ? [] : [unchanged] };
}

const ofVersion = {
  // Like trimming and deleting a key.
  withoutSecret: true,
  params: {
    name: existingKey,
    version: integer({
      help: 'Number of the key version; the latest version is not allowed.',
      required: true,
      cli: { positional: true, isKeyVersion: true },
    }),
  },
} as const;

const subjectOf = (values: Readonly<Record<string, unknown>>): string =>
  `version ${values['version']} of key ${values['name']}`;

const listed = (key: JsonObject, member: string, version: number): boolean => {
  const versions = key[member];
  return Array.isArray(versions) && versions.includes(version);
};

export const revoke = transitOperation({
  route: 'POST keys/:name/revoke',
  ...ofVersion,
  cli: {
    ...acting,
    unchanged: already((key, version) => listed(key, 'revoked_versions', version)),
    done: (values, _data, _existing, unchanged) =>
      unchanged === 1
        ? `No changes made: ${subjectOf(values)} is already revoked.`
        : `Revoked ${subjectOf(values)}. To undo this, run "coffer transit keys reinstate ${values['name']} ${values['version']}".`,
    examples: {
      'coffer transit keys revoke orders 2': 'Refuse everything that version 2 encrypted or signed',
    },
  },
  run: async ({ engine }, values) => ({
    data: keyData(engine, await revokeVersion(engine, values.name, values.version)),
  }),
});

export const reinstate = transitOperation({
  route: 'POST keys/:name/reinstate',
  ...ofVersion,
  cli: {
    ...acting,
    unchanged: already(
      (key, version) =>
        !listed(key, 'revoked_versions', version) && !listed(key, 'destroyed_versions', version),
    ),
    done: (values, _data, _existing, unchanged) =>
      unchanged === 1
        ? `No changes made: ${subjectOf(values)} is not revoked.`
        : `Reinstated ${subjectOf(values)}.`,
    examples: { 'coffer transit keys reinstate orders 2': 'Undo the revocation of version 2' },
  },
  run: async ({ engine }, values) => ({
    data: keyData(engine, await reinstateVersion(engine, values.name, values.version)),
  }),
});

export const destroy = transitOperation({
  route: 'POST keys/:name/destroy',
  ...ofVersion,
  cli: {
    ...acting,
    foresee: foreseeDestruction,
    confirm: async (values) =>
      `Permanently destroy ${subjectOf(values)}? Data encrypted with it can never be decrypted. ("coffer transit keys revoke ${values['name']} ${values['version']}" can be undone.)`,
    unchanged: already((key, version) => listed(key, 'destroyed_versions', version)),
    done: (values, _data, _existing, unchanged) =>
      unchanged === 1
        ? `No changes made: ${subjectOf(values)} is already destroyed.`
        : `Destroyed ${subjectOf(values)}.`,
    examples: {
      'coffer transit keys destroy orders 2':
        'Destroy the key material of version 2; other versions are kept',
    },
  },
  run: async ({ engine }, values) => ({
    data: keyData(engine, await destroyVersion(engine, values.name, values.version)),
  }),
});
