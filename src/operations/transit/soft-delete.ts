/** Operations that stop all use of a key, and undo that. */

import type { JsonObject } from '../../ground/objects.ts';
import type { Engine } from '../../transit/engine.ts';
import { noSuchKey } from '../../transit/key-collection.ts';
import { setSoftDeleted } from '../../transit/lifecycle.ts';
import { isMissing, type Outcome, type Runner, unlessUnexpected } from '../declaration/operation.ts';
import { foreseeKey } from './foreseen.ts';
import { type KeyData, keyData, keyTable } from './key-data.ts';
import { eachKey, transitOperation } from './parameters.ts';

/** Fails for a missing key on the command line; the API returns an empty response. */
async function requireThere(raw: Readonly<Record<string, unknown>>, runner: Runner) {
  const { name } = raw;
  if (!(await isMissing(runner, 'transit keys read', { name }))) return raw;
  throw noSuchKey(String(name), `key "${name}" not found`);
}

/** Counts 1 for a key that is soft-deleted already, or is not, which the warning of the operation says. */
const alreadyMarked = (softDeleted: boolean) => async (values: JsonObject, runner: Runner) => {
  const key = await foreseeKey(values, runner).catch(unlessUnexpected);
  return key !== undefined && (key['soft_deleted'] === true) === softDeleted ? 1 : 0;
};

export const softDelete = transitOperation({
  route: 'DELETE keys/:name/soft-delete',
  withoutSecret: true,
  params: { name: eachKey },
  cli: {
    acts: true,
    table: keyTable,
    resolve: requireThere,
    unchanged: alreadyMarked(true),
    done: (values, _data, _existing, already) =>
      `${already === 1 ? 'No changes made. To restore the key' : `Soft-deleted key ${values['name']}. To undo this`}, run "coffer transit keys soft-delete-restore ${values['name']}".`,
    examples: [
      [
        'coffer transit keys soft-delete orders',
        'Stop every use of a key; "soft-delete-restore" undoes that',
      ],
    ],
  },
  run: ({ engine }, values) =>
    markSoftDeleted(engine, values.name, true, 'key was already marked as soft deleted'),
});

export const restore = transitOperation({
  route: 'POST keys/:name/soft-delete-restore',
  withoutSecret: true,
  params: { name: eachKey },
  cli: {
    acts: true,
    table: keyTable,
    resolve: requireThere,
    unchanged: alreadyMarked(false),
    done: (values, _data, _existing, already) =>
      already === 1 ? 'No changes made.' : `Restored key ${values['name']}.`,
    examples: [['coffer transit keys soft-delete-restore orders', 'Use a soft-deleted key again']],
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
