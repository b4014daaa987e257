/** Roles of a mount of `approle`. */

import { NO_SETTINGS, type TokenSettings } from '../../access/login/token-settings.ts';
import {
  type AppRole,
  type AppRolePorts,
  type AppRoleSettings,
  NEW_ROLE,
  rolesOf,
} from '../../access/methods/approle/documents.ts';
import { removeRole, writeRole } from '../../access/methods/approle/roles.ts';
import { type CofferError, invalid, notFound, ownWords } from '../../ground/errors.ts';
import { deletingByName, eachNamed } from '../declaration/deleting.ts';
import { duration } from '../declaration/duration.ts';
import { done } from '../declaration/operation.ts';
import { flag, givenOf, hidden, integer, text, texts, type ValuesOf } from '../declaration/params.ts';
import { found, listAnswer, listing, loginOperations, pageOf, roleName } from './named-objects.ts';
import {
  givenSettings,
  olderTokenParams,
  roleDetails,
  tokenSettingsParams,
  unknownPolicies,
} from './token-settings.ts';

export const approleOperation = loginOperations('approle');

export const role_name = roleName('role', 'deploy');

const roleParams = {
  role_id: text({ help: 'Role ID, the user name with which programs log in. Default: random.' }),
  bind_secret_id: flag({
    help: 'Require a secret ID in addition to the role ID.',
    cli: { negatable: 'Let programs log in with the role ID alone.' },
  }),
  secret_id_bound_cidrs: texts({
    help: 'CIDR blocks from which logins are accepted. Default: any.',
    cli: { metavar: 'CIDR' },
  }),
  bound_cidr_list: texts(hidden('Deprecated alias of `secret_id_bound_cidrs`.')),
  secret_id_num_uses: integer({ help: 'Number of logins with each secret ID (0: unlimited).' }),
  secret_id_ttl: duration({ help: 'Lifetime of secret IDs (0: unlimited).' }),
  local_secret_ids: flag(hidden('Stored for compatibility; can only be set on creation.')),
  ...tokenSettingsParams,
  ...olderTokenParams('policies', 'period'),
} as const;

type AppRoleValues = Partial<ValuesOf<typeof roleParams>>;

/** Returns the settings; the newer name takes precedence if both are given. */
function settingsIn(values: AppRoleValues): Partial<AppRoleSettings> {
  const { bind_secret_id, secret_id_num_uses, secret_id_ttl, local_secret_ids } = values;
  const secret_id_bound_cidrs = values.secret_id_bound_cidrs ?? values.bound_cidr_list;
  return givenOf(roleParams, {
    bind_secret_id,
    secret_id_bound_cidrs,
    secret_id_num_uses,
    secret_id_ttl,
    local_secret_ids,
  });
}

const printRole = ({ settings, token }: AppRole) => ({
  ...settings,
  secret_id_bound_cidrs: settings.secret_id_bound_cidrs.length === 0 ? null : settings.secret_id_bound_cidrs,
  ...token,
});

const existing = async (room: AppRolePorts, name: string): Promise<AppRole> =>
  found(await rolesOf(room).read(name), 'role', name, 'role_name');

const noRole = (name: string): CofferError => notFound(`no role ${name}`, { field: 'role_name' });

export const list = approleOperation({
  route: 'LIST role',
  ...listing('roles', 'coffer auth approle write NAME'),
  run: async ({ room }, values) => listAnswer(await rolesOf(room).list(pageOf(values))),
});

export const read = approleOperation({
  route: 'GET role/:role_name',
  withoutSecret: true,
  params: { role_name },
  cli: { details: roleDetails },
  run: async ({ room }, values) => ({ data: printRole(await existing(room, values.role_name)) }),
});

export const write = approleOperation({
  route: 'POST role/:role_name',
  params: { role_name, ...roleParams },
  cli: {
    doubts: unknownPolicies,
    done: (values) => `Saved role ${String(values['role_name'])}.`,
    examples: {
      'coffer auth approle write deploy --token-policies deploy --token-ttl 15m --secret-id-num-uses 1':
        'Create a role whose secret IDs are valid for one login',
      'coffer auth approle write deploy --token-bound-cidrs 10.0.0.0/8 --path ci':
        'Create a role of the login method at auth/ci',
    },
  },
  exists: async ({ room }, values) => (await rolesOf(room).read(values.role_name)) !== undefined,
  run: done(async ({ room }, { role_name: name, ...values }) => {
    if (values.role_id === '') {
      throw invalid(ownWords('invalid role_id supplied, or failed to generate a role_id'), {
        field: 'role_id',
      });
    }
    await writeRole(room, name, {
      settings: settingsIn(values),
      token: givenSettings(values),
      roleId: values.role_id,
    });
  }),
});

export const remove = approleOperation({
  route: 'DELETE role/:role_name',
  params: { role_name: eachNamed(role_name) },
  cli: deletingByName('role', { read: 'auth approle read', param: 'role_name', more: ' and its secret IDs' }),
  run: done(({ room }, values) => removeRole(room, values.role_name)),
});

export const readRoleId = approleOperation({
  route: 'GET role/:role_name/role-id',
  params: { role_name },
  cli: { result: { member: 'role_id', as: 'text' } },
  run: async ({ room }, values) => ({
    data: { role_id: (await existing(room, values.role_name)).roleId },
  }),
});

export const writeRoleId = approleOperation({
  route: 'POST role/:role_name/role-id',
  params: { role_name, role_id: text({ help: 'Role ID that programs log in with.', default: '' }) },
  run: done(async ({ room }, { role_name: name, role_id: roleId }) => {
    if (roleId === '') throw invalid(ownWords('missing role_id'), { field: 'role_id' });
    const missing = () => noRole(name);
    await writeRole(room, name, { settings: {}, token: {}, roleId }, { missing });
  }),
});

/** Members of a role that have paths of their own. */
const FIELDS = {
  policies: 'token_policies',
  period: 'token_period',
  'token-ttl': 'token_ttl',
  'token-max-ttl': 'token_max_ttl',
  'token-num-uses': 'token_num_uses',
  'token-bound-cidrs': 'token_bound_cidrs',
  'bind-secret-id': 'bind_secret_id',
  'secret-id-num-uses': 'secret_id_num_uses',
  'secret-id-ttl': 'secret_id_ttl',
  'secret-id-bound-cidrs': 'secret_id_bound_cidrs',
  'bound-cidr-list': 'secret_id_bound_cidrs',
} as const satisfies Readonly<Record<string, keyof (AppRoleSettings & TokenSettings)>>;

const WORDS = Object.keys(FIELDS).join('|');
const DEFAULTS = { ...NEW_ROLE, ...NO_SETTINGS };

const field = text({ help: 'Setting of the role, with dashes, e.g. secret-id-ttl.', required: true });

/** Returns the member of a role that the last word of a path names. */
function memberOf(word: string): keyof typeof DEFAULTS {
  if (Object.hasOwn(FIELDS, word)) return FIELDS[word as keyof typeof FIELDS];
  throw invalid(`roles have no field ${word}`, { field: 'field' });
}

export const readField = approleOperation({
  route: `GET role/:role_name/:field<${WORDS}>`,
  withoutSecret: true,
  params: { role_name, field },
  async run({ room }, values) {
    const member = memberOf(values.field);
    const role = printRole(await existing(room, values.role_name));
    // Settings that were set by an older name are returned under both.
    const older = values.field === 'policies' || values.field === 'period' ? values.field : undefined;
    const data = { [member]: role[member] };
    return { data: older === undefined ? data : { [older]: role[older], ...data } };
  },
});

export const writeField = approleOperation({
  route: `POST role/:role_name/:field<${WORDS}>`,
  params: { role_name, field, ...roleParams },
  run: done(async ({ room }, { role_name: name, field: word, ...values }) => {
    const member = memberOf(word);
    const given: Readonly<Record<string, unknown>> = { ...settingsIn(values), ...givenSettings(values) };
    if (given[member] === undefined) throw invalid(`missing ${member}`, { field: member });
    await changeMember(room, name, member, given[member]);
  }),
});

export const resetField = approleOperation({
  route: `DELETE role/:role_name/:field<${WORDS}>`,
  params: { role_name, field },
  run: done(async ({ room }, values) => {
    const member = memberOf(values.field);
    await changeMember(room, values.role_name, member, DEFAULTS[member]);
  }),
});

async function changeMember(
  room: AppRolePorts,
  name: string,
  member: keyof typeof DEFAULTS,
  value: unknown,
): Promise<void> {
  const change = { [member]: value };
  const isOfToken = Object.hasOwn(NO_SETTINGS, member);
  await writeRole(
    room,
    name,
    { settings: isOfToken ? {} : change, token: isOfToken ? change : {} },
    { missing: () => noRole(name) },
  );
}
