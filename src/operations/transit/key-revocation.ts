import { destroyVersion, reinstateVersion, revokeVersion } from '../../transit/revocation.ts';
import { integer } from '../declaration/params.ts';
import { keyData, keyTable } from './key-data.ts';
import { existingKey, transitOperation } from './parameters.ts';

/** Revokes single versions of a key by number. */

const params = {
  name: existingKey,
  version: integer({
    help: 'Number of the version; it must not be the latest.',
    required: true,
    cli: { positional: true },
  }),
};

/** Allowed through an agent without the secret, like trimming and deleting a key. */
const ofVersion = { capability: 'update', withoutSecret: true, params } as const;
const acting = { acts: true, table: keyTable } as const;

const subject = (values: Readonly<Record<string, unknown>>): string =>
  `version ${values['version']} of key ${values['name']}`;

export const revoke = transitOperation({
  route: 'POST keys/:name/revoke',
  ...ofVersion,
  cli: {
    ...acting,
    done: (values) =>
      `Nothing is done with ${subject(values)} from now on; "keys reinstate" takes that back.`,
    examples: [['coffer transit keys revoke orders 2', 'what version 2 encrypted or signed is refused']],
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
    done: (values) => `Used again from now on: ${subject(values)}.`,
    examples: [['coffer transit keys reinstate orders 2', 'as if version 2 had never been revoked']],
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
    confirm: async (values) =>
      `Destroy ${subject(values)} for good? What it encrypted can never be decrypted. ("keys revoke" can be undone.)`,
    done: (values) => `Destroyed ${subject(values)}.`,
    examples: [
      ['coffer transit keys destroy orders 2', 'the material of version 2 is gone; the others stay'],
    ],
  },
  run: async ({ engine }, values) => ({
    data: keyData(engine, await destroyVersion(engine, values.name, values.version)),
  }),
});
