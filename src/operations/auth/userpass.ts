/** Operations below a mount of `userpass`. */

import { type NewPassword, Userpass } from '../../access/methods/userpass/userpass.ts';
import { asCofferError, invalid, ownWords } from '../../ground/errors.ts';
import type { JsonObject } from '../../ground/objects.ts';
import { deletingByName, eachNamed } from '../declaration/deleting.ts';
import { operationsOf } from '../declaration/mount-operations.ts';
import { done, type MountCall, type Runner } from '../declaration/operation.ts';
import { hidden, text, type ValuesOf } from '../declaration/params.ts';
import { found, listAnswer, listing, pageOf, roleName } from './named-objects.ts';
import { loginAnswer } from './token-answers.ts';
import {
  givenSettings,
  olderTokenParams,
  roleDetails,
  tokenSettingsParams,
  unknownPolicies,
} from './token-settings.ts';

const name = roleName('user', 'ada');

const passwordParams = {
  password: text({ help: 'Password.' }),
  password_hash: text(hidden('Password hash (bcrypt), instead of the password.')),
} as const;

const userpassOperation = operationsOf('userpass', async (call: MountCall) => {
  const { core, mount } = call;
  return { ...call, users: new Userpass(core, await core.mounts.get(mount, 'userpass')) };
});

/**
 * Returns the new password.
 * @throws `invalid` if both forms are given
 */
function passwordIn(values: ValuesOf<typeof passwordParams>): NewPassword | undefined {
  const { password: plain = '', password_hash: hash = '' } = values;
  if (plain !== '' && hash !== '') {
    throw invalid(ownWords('only one of password or password_hash may be provided'), {
      field: 'password_hash',
    });
  }
  if (hash !== '') return { hash };
  return plain === '' ? undefined : { plain };
}

export const list = userpassOperation({
  route: 'LIST users',
  ...listing('users', 'coffer auth userpass write NAME'),
  run: async ({ users }, values) => listAnswer(await users.list(pageOf(values))),
});

export const read = userpassOperation({
  route: 'GET users/:name',
  withoutSecret: true,
  params: { name },
  cli: { details: roleDetails },
  run: async ({ users }, { name }) => ({ data: found(await users.read(name), 'user', name) }),
});

/** Message about a method that is not enabled. */
const NO_METHOD = /^no handler for route /;

/** Fails if the method is not enabled, before a password is asked for. */
async function foreseeMount({ name }: JsonObject, runner: Runner): Promise<void> {
  try {
    await runner.run('auth userpass read', { name });
  } catch (error) {
    if (NO_METHOD.test(asCofferError(error)?.message ?? '')) throw error;
  }
}

export const write = userpassOperation({
  route: 'POST users/:name',
  params: {
    name,
    ...passwordParams,
    ...tokenSettingsParams,
    ...olderTokenParams('policies', 'ttl', 'max_ttl', 'bound_cidrs'),
  },
  cli: {
    input: {
      param: 'password',
      as: 'text',
      help: 'Password; required for a new user.',
      secret: 'Password',
      onRequest: 'auth userpass read',
    },
    foresee: foreseeMount,
    doubts: unknownPolicies,
    done: (values) => `Saved user ${String(values['name'])}.`,
    examples: {
      'coffer auth userpass write ada --token-policies clerk --token-ttl 8h':
        'Create a user; prompts for the password',
      'coffer auth userpass write ada --token-policies clerk --in password.txt':
        'Read the password from a file',
    },
  },
  exists: async ({ users }, values) => (await users.read(values.name)) !== undefined,
  run: done(({ users }, values) => users.write(values.name, givenSettings(values), passwordIn(values))),
});

export const remove = userpassOperation({
  route: 'DELETE users/:name',
  params: { name: eachNamed(name) },
  cli: deletingByName('user', { read: 'auth userpass read' }),
  run: done(({ users }, values) => users.remove(values.name)),
});

/** Separate path, so that policies can allow users to change only their own password. */
export const changePassword = userpassOperation({
  route: 'POST users/:name/password',
  params: { name, ...passwordParams },
  cli: {
    input: { param: 'password', as: 'text', help: 'New password.', secret: 'New password' },
    foresee: foreseeMount,
    done: (values) => `Changed the password of ${String(values['name'])}.`,
    examples: {
      'coffer auth userpass password ada': 'Change a password; prompts for the new one',
      'coffer auth userpass password ada --in password.txt': 'Read the new password from a file',
    },
  },
  run: done(async ({ users }, values) => {
    const password = passwordIn(values);
    if (password === undefined) {
      throw invalid(ownWords('must provide either password or password_hash'), { field: 'password' });
    }
    await users.change(values.name, {}, password);
  }),
});

export const changePolicies = userpassOperation({
  route: 'POST users/:name/policies',
  params: {
    name,
    token_policies: tokenSettingsParams.token_policies,
    ...olderTokenParams('policies'),
  },
  run: done(({ users }, { name: user, ...values }) =>
    users.change(user, { token_policies: [], ...givenSettings(values) }),
  ),
});

export const login = userpassOperation({
  route: 'POST login/:name',
  unauthenticated: true,
  roleOf: (_call, { name }) => name,
  params: { name, password: text({ help: 'Password.' }) },
  async run({ core, users, remoteAddress = '' }, { name: user, password = '' }) {
    if (password === '') throw invalid(ownWords('missing password'), { field: 'password' });
    const issued = await users.login(await core.access(), user, password, remoteAddress);
    return loginAnswer(issued);
  },
});
