/** Login methods of a store: `sys/auth`. */

import { invalid, ownWords } from '../../ground/errors.ts';
import { trimSlashes } from '../../ground/trim.ts';
import type { Mount } from '../../mounts/mount.ts';
import { isLoginMount } from '../../mounts/mounts.ts';
import { LOGIN_PREFIX } from '../../mounts/paths.ts';
import { deletingNamed, FOR_GOOD, requireListed } from '../declaration/deleting.ts';
import { atTopToo, type Core, done, operation } from '../declaration/operation.ts';
import { hidden, members, text, textMap } from '../declaration/params.ts';
import { LOGIN_METHODS } from '../mount-types.ts';
import {
  changedConfig,
  loginConfigParams,
  mountListing,
  printMount,
  printMounts,
  printMountTuning,
  traitParams,
  traitsIn,
} from './mount-config.ts';

/** Without `auth/`, and without slashes at the ends. */
const methodPath = text({
  help: 'Path below auth/ at which the login method is enabled, e.g. "approle".',
  required: true,
  cli: { positional: true, refersTo: 'login' },
});

const fullPath = (path: string): string => LOGIN_PREFIX + trimSlashes(path);

const find = ({ mounts }: Core, path: string): Promise<Mount | undefined> => mounts.find(fullPath(path));

/**
 * Finds a login method.
 * @throws `invalid` with Vault's message
 */
async function methodAt(core: Core, path: string, missing: (path: string) => string): Promise<Mount> {
  const mount = await find(core, path);
  if (mount !== undefined) return mount;
  throw invalid(missing(trimSlashes(path)), {
    field: 'path',
    hint: 'list the login methods with "coffer auth list"',
  });
}

export const list = operation({
  route: 'GET /sys/auth',
  withoutSecret: true,
  cli: mountListing('Type', ({ type }) => type),
  run: async ({ core }) => atTopToo(printMounts((await core.mounts.list()).filter(isLoginMount))),
});

export const read = operation({
  route: 'GET /sys/auth/:path+',
  capability: 'sudo',
  withoutSecret: true,
  params: { path: methodPath },
  async run({ core }, { path }) {
    return atTopToo(printMount(await methodAt(core, path, (missing) => `No auth engine at ${missing}/`)));
  },
});

export const enable = operation({
  route: 'POST /sys/auth/:path+',
  capability: 'sudo',
  params: {
    type: text({
      help: 'Login method to enable.',
      default: '',
      cli: { positional: true, metavar: 'METHOD', suggest: () => LOGIN_METHODS },
    }),
    path: text({
      help: 'Path below auth/ at which to enable the login method. Default: the name of the method.',
      default: '',
      cli: { metavar: 'P' },
    }),
    description: text({ help: 'Description of the login method.', default: '' }),
    options: textMap(hidden('Stored for compatibility; has no effect.')),
    config: members(
      loginConfigParams,
      hidden('Settings of the login method, e.g. max_lease_ttl, as in requests to sys/auth/PATH/tune.'),
    ),
    ...traitParams,
  },
  cli: {
    makes: true,
    resolve: async (raw) => ({ path: raw['type'], ...raw }),
    done: (values) => `Enabled ${String(values['type'])} at ${String(values['path'])}/.`,
    examples: {
      'coffer auth enable userpass --path people':
        'Enable logins with user name and password, at auth/people',
    },
  },
  run: done(async ({ core }, { type, path, description, options = {}, config, ...rest }) => {
    if (type === '') throw invalid(ownWords('backend type must be specified as a string'), { field: 'type' });
    if (type === 'token')
      throw invalid(ownWords('token credential backend cannot be instantiated'), { field: 'type' });
    if (!LOGIN_METHODS.includes(type)) {
      throw invalid(`plugin not found in the catalog: ${type}`, {
        field: 'type',
        hint: `use one of ${LOGIN_METHODS.join(', ')}`,
      });
    }
    if (options['version'] !== undefined) {
      throw invalid(`auth method "${type}" does not allow setting a version`, { field: 'options' });
    }
    const traits = traitsIn(rest);
    // Programs may leave it out; a request always has one in its path.
    await core.mounts.add(type, fullPath(path === '' ? type : path), {
      description,
      traits,
      options,
      config: config === undefined ? undefined : changedConfig(type, undefined, config),
    });
  }),
});

/**
 * Disables a login method, which revokes every token that it issued.
 * @see docs/decisions/0173
 */
export const disable = operation({
  route: 'DELETE /sys/auth/:path+',
  capability: 'sudo',
  params: { path: methodPath },
  cli: {
    confirm: async (values) =>
      `Disable login method ${String(values['path'])}/, delete its data and revoke all its tokens? ${FOR_GOOD}`,
    ...deletingNamed({
      async find({ path }, runner) {
        refuseTokenMethod(fullPath(String(path)) === 'auth/token');
        await requireListed(runner, 'auth list', 'login method', path);
      },
      what: ({ path }) => `login method ${trimSlashes(String(path))}/`,
      done: 'Disabled',
    }),
  },
  run: done(async ({ core }, { path }) => {
    const mount = await find(core, path);
    refuseTokenMethod(mount?.type === 'token');
    if (mount !== undefined) await core.mounts.remove(mount.path);
  }),
});

function refuseTokenMethod(isIt: boolean): void {
  if (isIt) throw invalid(ownWords('token credential backend cannot be disabled'), { field: 'path' });
}

export const tuning = operation({
  route: 'GET /sys/auth/:path+/tune',
  capability: 'sudo',
  withoutSecret: true,
  params: { path: methodPath },
  async run({ core }, { path }) {
    const missing = (wanted: string) => `cannot fetch sysview for path "auth/${wanted}/"`;
    return atTopToo(printMountTuning(await methodAt(core, path, missing)));
  },
});

export const tune = operation({
  route: 'POST /sys/auth/:path+/tune',
  capability: 'sudo',
  params: {
    path: methodPath,
    description: text({ help: 'Description of the login method.' }),
    options: textMap(hidden('Stored for compatibility; has no effect.')),
    ...loginConfigParams,
  },
  cli: {
    acts: true,
    done: (values) => `Updated ${String(values['path'])}/.`,
    examples: {
      'coffer auth tune userpass --max-lease-ttl 8h':
        'Let tokens of this login method live for at most 8 hours',
    },
  },
  run: done(async ({ core }, { path, description, options, ...config }) => {
    const missing = (wanted: string) => `tune of path "auth/${wanted}/" failed: no mount entry found`;
    const { path: mounted } = await methodAt(core, path, missing);
    await core.mounts.tune(mounted, (mount) => ({
      description,
      options,
      config: changedConfig(mount.type, mount.config, config),
    }));
  }),
});
