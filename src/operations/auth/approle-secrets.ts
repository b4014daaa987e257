/** Secret IDs of roles, and logins with them. */

import type { AppRolePorts, SecretId } from '../../access/methods/approle/documents.ts';
import { login as logIn, roleWithId } from '../../access/methods/approle/login.ts';
import {
  destroySecret,
  listSecrets,
  lookUpSecret,
  makeSecret,
  type SecretName,
  tidySecrets,
} from '../../access/methods/approle/secret-ids.ts';
import { printGoTime } from '../../ground/clock.ts';
import { asCofferError, attempt, invalid, notFound, ownWords } from '../../ground/errors.ts';
import { isObject, type JsonObject } from '../../ground/objects.ts';
import { FOR_GOOD, unlessUnexpected } from '../declaration/deleting.ts';
import { duration } from '../declaration/duration.ts';
import { computing, done, type Outcome, type Runner } from '../declaration/operation.ts';
import { integer, text, texts, type ValuesOf } from '../declaration/params.ts';
import type { Details } from '../declaration/table.ts';
import { parsePairs } from '../declaration/weak-values.ts';
import { approleOperation, role_name } from './approle-roles.ts';
import { listAnswer, listCli, listParams, pageOf, tidied } from './named-objects.ts';
import { loginAnswer } from './token-answers.ts';

const secretParams = {
  role_name,
  metadata: text({
    help: 'Metadata of tokens that are issued for the new secret ID: a JSON object, or a=b,c=d.',
    cli: { metavar: 'A=B' },
  }),
  cidr_list: texts({
    help: 'CIDR blocks from which logins with the new secret ID are accepted; must be within those of the role.',
  }),
  token_bound_cidrs: texts({
    help: 'CIDR blocks from which tokens that are issued for the new secret ID can be used; must be within those of the role.',
    cli: { metavar: 'CIDR' },
  }),
  num_uses: integer({
    help: 'Number of logins for which the secret ID is valid. Default and limit: as set on the role.',
  }),
  ttl: duration({
    help: 'Lifetime of the secret ID. Default and limit: as set on the role.',
  }),
} as const;

/** Accessor in examples. */
const ACCESSOR = '84896a0c-1347-aa90-a4f6-aca8b7558780';

const secret_id = text({ help: 'Secret ID.', default: '' });
const secret_id_accessor = text({
  help: 'Accessor of the secret ID, see "coffer auth approle list-secret-ids".',
  default: '',
  cli: { positional: true, metavar: 'ACCESSOR', example: ACCESSOR },
});

async function make(room: AppRolePorts, values: ValuesOf<typeof secretParams>, own?: string) {
  const { secretId, secret } = await makeSecret(room, values.role_name, {
    secretId: own,
    meta: metadataIn(values.metadata ?? ''),
    cidrs: values.cidr_list ?? [],
    tokenCidrs: values.token_bound_cidrs ?? [],
    uses: values.num_uses,
    ttl: values.ttl,
  });
  return {
    data: {
      secret_id: secretId,
      secret_id_accessor: secret.accessor,
      secret_id_num_uses: secret.uses,
      secret_id_ttl: secret.ttl,
    },
  };
}

/**
 * Parses metadata.
 * @throws `invalid` for a text that is neither an object of texts nor pairs
 */
function metadataIn(given: string): Readonly<Record<string, string>> {
  const plain = given.trim();
  if (plain === '') return {};
  const object = plain.startsWith('{') ? parsed(plain) : parsePairs(plain);
  if (object !== undefined) return object;
  throw invalid(ownWords('failed to parse metadata: failed to parse the input: invalid <key,value> format'), {
    field: 'metadata',
  });
}

const parsed = (json: string): Readonly<Record<string, string>> | undefined =>
  attempt(() => {
    const value: unknown = JSON.parse(json);
    if (!isObject(value) || Object.values(value).some((member) => typeof member === 'object'))
      return undefined;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, String(member)]));
  });

export const create = approleOperation({
  route: 'POST role/:role_name/secret-id',
  params: secretParams,
  cli: {
    result: { member: 'secret_id', as: 'text' },
    undo: ({ secret_id_accessor: accessor }, { role_name: role }) => ({
      operation: 'auth approle destroy-accessor',
      raw: { role_name: role, secret_id_accessor: accessor },
      what: 'the secret ID',
      hint: `the secret ID was not delivered: destroy it by its accessor, ${accessor}`,
    }),
    examples: {
      'coffer auth approle secret-id deploy --out secret-id':
        'Write a secret ID to a file that only you can read',
      'coffer auth approle secret-id deploy --num-uses 1 --ttl 10m':
        'Create a short-lived secret ID for one login',
    },
  },
  run: ({ room }, values) => make(room, values),
});

export const createCustom = approleOperation({
  route: 'POST role/:role_name/custom-secret-id',
  params: { ...secretParams, secret_id },
  cli: {
    input: { param: 'secret_id', as: 'text', secret: 'Secret ID' },
    result: { member: 'secret_id_accessor', as: 'text' },
    examples: {
      'coffer auth approle custom-secret-id deploy': 'Prompt for the secret ID, and print its accessor',
      'coffer auth approle custom-secret-id deploy --in secret-id': 'Read the secret ID from a file',
    },
  },
  async run({ room }, { secret_id: own, ...values }) {
    if (own === '') throw invalid(ownWords('missing secret_id'), { field: 'secret_id' });
    return make(room, values, own);
  },
});

export const list = approleOperation({
  route: 'LIST role/:role_name/secret-id',
  withoutSecret: true,
  params: { role_name, ...listParams },
  cli: listCli('secret IDs', 'coffer auth approle secret-id NAME'),
  run: async ({ room }, { role_name: name, ...values }) =>
    listAnswer(await listSecrets(room, name, pageOf(values))),
});

/** Time that Vault prints for none. */
const NO_TIME = '0001-01-01T00:00:00Z';

const printSecret = (secret: SecretId) => ({
  cidr_list: secret.cidrs,
  creation_time: printGoTime(secret.createdMs),
  expiration_time: secret.expiresMs === undefined ? NO_TIME : printGoTime(secret.expiresMs),
  last_updated_time: printGoTime(secret.updatedMs),
  metadata: secret.meta,
  secret_id_accessor: secret.accessor,
  secret_id_num_uses: secret.uses,
  secret_id_ttl: secret.ttl,
  token_bound_cidrs: secret.tokenCidrs,
});

async function lookUp(room: AppRolePorts, name: string, named: SecretName): Promise<Outcome<object>> {
  const secret = await lookUpSecret(room, name, named);
  return secret === undefined ? {} : { data: printSecret(secret) };
}

/**
 * Requires a value.
 * @throws `invalid` for an empty one
 */
function given(value: string, name: string): string {
  if (value === '') throw invalid(ownWords(`missing ${name}`), { field: name });
  return value;
}

const details: Details = {
  labels: {
    creation_time: 'Created',
    expiration_time: 'Expires',
    last_updated_time: '',
    secret_id_num_uses: 'Uses left',
    secret_id_ttl: '',
  },
  unset: { expiration_time: NO_TIME },
  whenUnset: { expiration_time: 'never' },
};

export const lookup = approleOperation({
  route: 'POST role/:role_name/secret-id/lookup',
  ...computing,
  params: { role_name, secret_id },
  cli: { input: { param: 'secret_id', as: 'text', secret: 'Secret ID' }, details },
  run: ({ room }, values) =>
    lookUp(room, values.role_name, { secretId: given(values.secret_id, 'secret_id') }),
});

export const lookupAccessor = approleOperation({
  route: 'POST role/:role_name/secret-id-accessor/lookup',
  ...computing,
  params: { role_name, secret_id_accessor },
  cli: {
    details,
    missed: ({ data, statusCode }) =>
      statusCode === 404 && isObject(data) && typeof data['error'] === 'string'
        ? notFound(data['error'], { field: 'secret_id_accessor', hint: LIST })
        : undefined,
  },
  async run({ room }, values) {
    const accessor = given(values.secret_id_accessor, 'secret_id_accessor');
    try {
      return await lookUp(room, values.role_name, { accessor });
    } catch (error) {
      const known = asCofferError(error);
      if (known?.kind !== 'not-found' || known.isGone) throw error;
      // A normal response with status 404, by which clients recognize that it is gone.
      return { data: { error: known.message }, statusCode: 404 };
    }
  },
});

const LIST = 'list the accessors of the secret IDs with "coffer auth approle list-secret-ids ROLE"';

/**
 * Checks that the role has the secret ID, before the user is asked to confirm that it is destroyed. Before the secret
 * ID itself is known, nothing is looked up.
 * @throws `not-found`
 */
async function foreseeSecret(values: JsonObject, runner: Runner): Promise<void> {
  if (values['secret_id'] === undefined || values['secret_id'] === '') return;
  const { data } = await runner.run(lookup, values);
  if (data === undefined)
    throw notFound(ownWords('the role has no such secret ID, nothing was destroyed'), { hint: LIST });
}

/**
 * Checks that the role has a secret ID with the accessor, before the user is asked.
 * @throws `not-found`
 */
async function foreseeAccessor(values: JsonObject, runner: Runner): Promise<void> {
  const { data, statusCode } = await runner.run(lookupAccessor, values);
  if (data !== undefined && statusCode !== 404) return;
  throw notFound(`the role has no secret ID with the accessor "${values['secret_id_accessor']}"`, {
    field: 'secret_id_accessor',
    hint: LIST,
  });
}

export const destroy = approleOperation({
  route: ['POST role/:role_name/secret-id/destroy', 'DELETE role/:role_name/secret-id/destroy'],
  withoutSecret: true,
  params: { role_name, secret_id },
  cli: {
    input: { param: 'secret_id', as: 'text', secret: 'Secret ID' },
    foresee: foreseeSecret,
    confirm: async () => `Destroy the secret ID? ${FOR_GOOD}`,
    unchanged: async (values, runner) => {
      const found = await runner.run(lookup, values).catch(unlessUnexpected);
      return found !== undefined && found.data === undefined ? 1 : 0;
    },
    done: (_values, _data, _existing, missing) =>
      missing === 1 ? 'The role has no such secret ID; nothing was destroyed.' : 'Destroyed the secret ID.',
  },
  run: done(async ({ room }, values) => {
    const secretId = given(values.secret_id, 'secret_id');
    await destroySecret(room, values.role_name, { secretId });
  }),
});

export const destroyAccessor = approleOperation({
  route: [
    'POST role/:role_name/secret-id-accessor/destroy',
    'DELETE role/:role_name/secret-id-accessor/destroy',
  ],
  withoutSecret: true,
  params: { role_name, secret_id_accessor },
  cli: {
    foresee: foreseeAccessor,
    confirm: async () => `Destroy the secret ID? ${FOR_GOOD}`,
    done: () => 'Destroyed the secret ID.',
  },
  run: done(async ({ room }, values) => {
    const accessor = given(values.secret_id_accessor, 'secret_id_accessor');
    await destroySecret(room, values.role_name, { accessor });
  }),
});

export const tidy = approleOperation({
  route: 'POST tidy/secret-id',
  withoutSecret: true,
  async run({ room }) {
    await tidySecrets(room);
    return tidied;
  },
});

export const login = approleOperation({
  route: 'POST login',
  unauthenticated: true,
  roleOf: async ({ room }, values) => roleWithId(room, values.role_id.trim()),
  params: { role_id: text({ help: 'Role ID.', default: '' }), secret_id },
  async run({ core, room, remoteAddress = '' }, values) {
    const { tokens } = await core.access();
    const issued = await logIn(room, tokens, {
      roleId: values.role_id.trim(),
      secretId: values.secret_id.trim(),
      address: remoteAddress,
    });
    return loginAnswer(issued);
  },
});
