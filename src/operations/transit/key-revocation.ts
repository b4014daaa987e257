import type { JsonObject } from '../../ground/objects.ts';
import { destroyVersion, reinstateVersion, revokeVersion } from '../../transit/revocation.ts';
import { type Runner, unlessUnexpected } from '../declaration/operation.ts';
import { integer } from '../declaration/params.ts';
import { foreseeDestruction, foreseeKey } from './foreseen.ts';
import { keyData, keyTable } from './key-data.ts';
import { existingKey, transitOperation } from './parameters.ts';

/** Revokes single versions of a key by number. */

const params = {
  name: existingKey,
  version: integer({
    help: 'Number of the key version; not the latest version.',
    required: true,
    cli: { positional: true, isKeyVersion: true },
  }),
};

/** Allowed through an agent without the secret, like trimming and deleting a key. */
const ofVersion = { capability: 'update', withoutSecret: true, params } as const;
const acting = { acts: true, table: keyTable } as const;

const subject = (values: Readonly<Record<string, unknown>>): string =>
  `version ${values['version']} of key ${values['name']}`;

const listed = (key: JsonObject, member: string, version: number): boolean => {
  const versions = key[member];
  return Array.isArray(versions) && versions.includes(version);
};

/** Counts 1 if the key shows that the operation will change nothing. */
const alreadyIn =
  (isSo: (key: JsonObject, version: number) => boolean) =>
  async (values: JsonObject, runner: Runner): Promise<number> => {
    const key = await foreseeKey(values, runner).catch(unlessUnexpected);
    return key !== undefined && isSo(key, Number(values['version'])) ? 1 : 0;
  };

export const revoke = transitOperation({
  route: 'POST keys/:name/revoke',
  ...ofVersion,
  cli: {
    ...acting,
    unchanged: alreadyIn((key, version) => listed(key, 'revoked_versions', version)),
    done: (values, _data, _existing, already) =>
      already === 1
        ? `No changes made: ${subject(values)} is already revoked.`
        : `Revoked ${subject(values)}. To undo this, run "coffer transit keys reinstate ${values['name']} ${values['version']}".`,
    examples: [
      ['coffer transit keys revoke orders 2', 'Refuse everything that version 2 encrypted or signed'],
    ],
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
    unchanged: alreadyIn(
      (key, version) =>
        !listed(key, 'revoked_versions', version) && !listed(key, 'destroyed_versions', version),
    ),
    done: (values, _data, _existing, already) =>
      already === 1
        ? `No changes made: ${subject(values)} is not revoked.`
        : `Reinstated ${subject(values)}.`,
    examples: [['coffer transit keys reinstate orders 2', 'Undo the revocation of version 2']],
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
      `Permanently destroy ${subject(values)}? Data encrypted with it can never be decrypted. ("coffer transit keys revoke ${values['name']} ${values['version']}" can be undone.)`,
    unchanged: alreadyIn((key, version) => listed(key, 'destroyed_versions', version)),
    done: (values, _data, _existing, already) =>
      already === 1
        ? `No changes made: ${subject(values)} is already destroyed.`
        : `Destroyed ${subject(values)}.`,
    examples: [
      [
        'coffer transit keys destroy orders 2',
        'Destroy the key material of version 2; other versions are kept',
      ],
    ],
  },
  run: async ({ engine }, values) => ({
    data: keyData(engine, await destroyVersion(engine, values.name, values.version)),
  }),
});
