import { denied, invalid, ownWords } from '../../ground/errors.ts';
import { trimSlashes, withoutLast } from '../../ground/trim.ts';
import type { Mount } from '../../mounts/mount.ts';
import { isLoginMount } from '../../mounts/mounts.ts';
import { LOGIN_PREFIX } from '../../mounts/paths.ts';
import { DIALECTS, isDialect } from '../../transit/engine.ts';
import { deletingNamed, requireListed } from '../declaration/deleting.ts';
import { atTopToo, type Core, done, operation } from '../declaration/operation.ts';
import { choice, hidden, members, text, textMap } from '../declaration/params.ts';
import {
  changedConfig,
  configParams,
  loginConfigParams,
  mountListing,
  printForStrangers,
  printMount,
  printMounts,
  printMountTuning,
  traitParams,
  traitsIn,
} from './mount-config.ts';

/** Without slashes at the ends. */
const mountPath = text({
  help: 'Path of the mount, e.g. "teams/payments".',
  required: true,
  cli: { positional: true, refersTo: 'mount' },
});

/** Returns the mounts of `sys/mounts`; login methods are in `sys/auth`. */
const enginesOf = async ({ mounts }: Core): Promise<readonly Mount[]> =>
  (await mounts.list()).filter((mount) => !isLoginMount(mount));

/**
 * Finds an engine; or a login method, whose settings are also at `sys/mounts/auth/PATH`.
 * @throws `invalid`, because Vault reports a missing mount as a client error, also for reading
 */
async function mountAt(core: Core, path: string): Promise<Mount> {
  const mount = await core.mounts.find(path);
  if (mount !== undefined) return mount;
  throw invalid(`No secret engine mount at ${withoutLast(path, '/')}/`, {
    field: 'path',
    hint: 'list the mounts with "coffer mounts list"',
  });
}

export const list = operation({
  route: 'GET /sys/mounts',
  withoutSecret: true,
  cli: mountListing('Dialect', ({ options }) => options?.['dialect'] ?? "the caller's"),
  run: async ({ core }) => atTopToo(printMounts(await enginesOf(core))),
});

export const read = operation({
  route: 'GET /sys/mounts/:path+',
  withoutSecret: true,
  params: { path: mountPath },
  async run({ core }, values) {
    return { data: printMount(await mountAt(core, values.path)) };
  },
});

export const add = operation({
  route: 'POST /sys/mounts/:path+',
  // Settings affect, for example, what a server's audit log records in the clear.
  withoutSecret: ({ config }) => config === undefined,
  params: {
    path: mountPath,
    type: text({ ...hidden('Engine type; only "transit" is supported.'), default: 'transit' }),
    dialect: choice(DIALECTS, {
      help: 'Format of new ciphertexts and signatures of this mount: service ("service:v1:…") or vault ("vault:v1:…"). With vault, signing keys can be rotated without --force, as in Vault. Default: the format of the store or the server.',
      cli: { metavar: 'D' },
    }),
    description: text({ help: 'Description of the mount.', default: '' }),
    options: textMap(hidden('Mount options; only "dialect" is supported.')),
    config: members(
      configParams,
      hidden('Settings of the mount, e.g. max_lease_ttl, as in requests to sys/mounts/PATH/tune.'),
    ),
    ...traitParams,
  },
  cli: {
    makes: true,
    // Vault servers require the type.
    resolve: async (raw) => ({ type: 'transit', ...raw }),
    done: (values) => `Mounted transit at ${String(values['path'])}/.`,
    examples: {
      'coffer mounts add teams/payments --dialect vault': 'Add a mount whose ciphertexts begin with "vault:"',
    },
  },
  run: done(async ({ core }, { type, path, description, dialect, options, config, ...rest }) => {
    // Permission to add engines must not allow adding login methods: `sys/auth` requires more.
    if (`${trimSlashes(path)}/`.startsWith(LOGIN_PREFIX)) {
      throw invalid(`cannot mount under the reserved path "${LOGIN_PREFIX}"`, { field: 'path' });
    }
    const traits = traitsIn(rest);
    await core.mounts.add(type, path, {
      description,
      traits,
      config: config === undefined ? undefined : changedConfig(type, undefined, config),
      options: dialect === undefined ? checkedOptions(options) : { dialect, ...checkedOptions(options) },
    });
  }),
});

/** Mounts that every server has, in peers if not here: nothing is unmounted, and 204 would say that it was. */
const FIXED: ReadonlySet<string> = new Set(['sys', 'identity', 'cubbyhole']);

export const remove = operation({
  route: 'DELETE /sys/mounts/:path+',
  withoutSecret: true,
  params: { path: mountPath },
  cli: {
    confirm: async (values) => `Remove mount ${String(values['path'])}/ and permanently delete all its keys?`,
    ...deletingNamed({
      find: ({ path }, runner) => requireListed(runner, 'mounts list', 'mount', path),
      what: ({ path }) => `mount ${trimSlashes(String(path))}/`,
      done: 'Removed',
    }),
  },
  run: done(async ({ core }, values) => {
    const mount = await core.mounts.find(values.path);
    const path = trimSlashes(values.path);
    const isLogin = mount !== undefined && isLoginMount(mount);
    if (FIXED.has(path) || isLogin) {
      const name = path.replace(/^auth\//, '');
      throw invalid(`cannot unmount "${path}/"`, {
        field: 'path',
        hint: isLogin ? `it is a login method: run "coffer auth disable ${name}"` : undefined,
      });
    }
    if (mount === undefined) return;
    await core.mounts.remove(mount.path);
    await (await core.tags()).keys.forgetMount(mount.uuid);
  }),
});

export const tune = operation({
  route: 'POST /sys/mounts/:path+/tune',
  params: {
    path: mountPath,
    description: text({ help: 'Description of the mount.' }),
    options: textMap({ help: 'Mount options; only "dialect" is supported.' }),
    ...loginConfigParams,
  },
  run: done(async ({ core }, { path, description, options, ...config }) => {
    const { path: mounted } = await mountAt(core, path);
    await core.mounts.tune(mounted, (mount) => {
      if (config.token_type !== undefined && !isLoginMount(mount)) {
        throw invalid(ownWords("'token_type' can only be modified on auth mounts"), { field: 'token_type' });
      }
      return {
        description,
        options: options === undefined ? undefined : checkedOptions(options),
        config: changedConfig(mount.type, mount.config, config),
      };
    });
  }),
});

/**
 * Validates options. Unknown ones are stored, because clients compare them.
 * @throws `invalid` for an unknown dialect
 */
function checkedOptions(options: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const { dialect = '' } = options;
  if (dialect === '' || isDialect(dialect)) return options;
  throw invalid(`options.dialect must be one of ${DIALECTS.join(', ')}, not "${dialect}"`, {
    field: 'options',
  });
}

/** Responds when it is done, which takes no longer than any other change. */
export const move = operation({
  route: 'POST /sys/remount',
  capability: 'sudo',
  params: {
    from: text({
      help: 'Current path of the mount.',
      required: true,
      cli: { positional: true, refersTo: 'mount' },
    }),
    to: text({
      help: 'New path of the mount, e.g. "teams/payments".',
      required: true,
      cli: { positional: true },
    }),
  },
  cli: {
    acts: true,
    done: ({ from, to }) => `Moved ${String(from)} to ${String(to)}.${endedBy(String(from))}`,
    examples: {
      'coffer mounts move transit teams/payments':
        'Move a mount and its keys; policies that name the old path are not changed',
      'coffer mounts move auth/approle auth/machines':
        'Move a login method; all tokens that it issued are revoked',
    },
  },
  async run({ core }, { from, to }) {
    const { id } = await core.mounts.move(from, to);
    return { data: { migration_id: id } };
  },
});

/** Returns what else a move does: nothing, or the end of all tokens of a login method. */
const endedBy = (from: string): string =>
  trimSlashes(from).startsWith(LOGIN_PREFIX) ? ' The tokens that it issued are revoked: log in again.' : '';

export const migration = operation({
  route: 'GET /sys/remount/status/:migration_id',
  withoutSecret: true,
  params: { migration_id: text({ help: 'Migration ID returned by the remount request.', required: true }) },
  async run({ core }, values) {
    const { id, from, to } = await core.mounts.migration(values.migration_id);
    return {
      data: {
        migration_id: id,
        migration_info: { source_mount: `${from}/`, target_mount: `${to}/`, status: 'success' },
      },
    };
  },
});

export const tuning = operation({
  route: 'GET /sys/mounts/:path+/tune',
  withoutSecret: true,
  params: { path: mountPath },
  run: async ({ core }, values) => atTopToo(printMountTuning(await mountAt(core, values.path))),
});

/**
 * Lists mounts for user interfaces: those that the caller has permissions on, and public ones. Without a valid token,
 * only what a login page needs is returned.
 */
export const visible = operation({
  route: 'GET /sys/internal/ui/mounts',
  withoutSecret: true,
  anyToken: true,
  strangers: true,
  async run({ core, caller }) {
    const all = await core.mounts.list();
    const isShown = ({ config }: Mount) => config?.listing_visibility === 'unauth';
    const mounts = all.filter((mount) => caller.reaches(mount.path) || isShown(mount));
    const print = caller.isStranger ? printForStrangers : printMounts;
    const isEngine = (mount: Mount) => !isLoginMount(mount);
    return { data: { auth: print(mounts.filter(isLoginMount)), secret: print(mounts.filter(isEngine)) } };
  },
});

/** Returns the mount of a path, which clients look up before their first call. */
export const find = operation({
  route: 'GET /sys/internal/ui/mounts/:path+',
  withoutSecret: true,
  anyToken: true,
  params: { path: mountPath },
  async run({ core, caller }, values) {
    const path = withoutLast(values.path, '/');
    const mounts = await core.mounts.list();
    const mount = mounts.find((candidate) => `${path}/`.startsWith(`${candidate.path}/`));
    if (mount === undefined || !caller.reaches(mount.path)) {
      throw denied(
        `preflight capability check returned 403, please ensure client's policies grant access to path "${path}/"`,
        { field: 'path' },
      );
    }
    return { data: { ...printMount(mount), path: `${mount.path}/` } };
  },
});
