import { CAPABILITIES } from '../../access/capability.ts';
import { asCofferError, invalid } from '../../ground/errors.ts';
import { meantText, nearest } from '../../ground/nearness.ts';
import { isObject } from '../../ground/objects.ts';
import { catalogue } from '../../operations/catalogue.ts';
import { type CatalogueBranch, isEntry } from '../../operations/catalogue-entry.ts';
import type { Operation, Runner } from '../../operations/declaration/operation.ts';
import { CAPABILITY_OF, printPath, type Route, routesOf } from '../../operations/declaration/route.ts';
import { type Table, timeCell } from '../../operations/declaration/table.ts';
import { argument, type OwnCommand, taking } from '../command.ts';
import { outPlaceOf } from '../files/out-file.ts';
import { printResult } from '../files/output.ts';
import { type Given, textOption } from '../given.ts';
import { existingNear } from '../near-names.ts';
import { outOptions } from '../parse/operation-spec.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';

/* Answers "who may decrypt with the key orders?". @see docs/decisions/0293 */

const KEY = 'key';
const OPERATION = 'operation';
const OPERATION_HINT =
  'use a command of "coffer transit", such as decrypt or "keys delete"; or give CAPABILITY and PATH instead';

export const who: OwnCommand = {
  arguments: [
    argument('CAPABILITY', 'Capability to look for, as in a policy.', {
      required: false,
      choices: CAPABILITIES,
    }),
    { metavar: 'PATH', help: 'API path, as in a policy, e.g. transit/decrypt/orders.', required: false },
  ],
  options: [
    taking(
      KEY,
      'NAME',
      'Key to check. --key and --operation are used together, in place of CAPABILITY and PATH.',
      { offers: 'key' },
    ),
    taking(
      OPERATION,
      'OPERATION',
      'Operation on the key to check: a command of "coffer transit", e.g. decrypt, sign or "keys delete".',
    ),
    ...outOptions,
  ],
  details:
    'Lists the policies that grant the capability. Then lists the roles and users of login methods, the token roles ' +
    'and the existing tokens that have it, each with the policies that grant it. Limits on request parameters are not ' +
    'considered. Batch tokens are not stored, and therefore not listed. A secret that unlocks the store permits ' +
    'everything, and is not listed. On a server, this needs the capabilities update and sudo on ' +
    'sys/capabilities-holders.',
  examples: [
    [
      'coffer policy who update transit/decrypt/orders',
      'List all logins and tokens that may decrypt with the key "orders"',
    ],
    [
      'coffer policy who --key orders --operation decrypt',
      'Name the key and the operation, instead of a capability and a path',
    ],
    ['coffer policy who --key orders --operation "keys delete" -o json', 'Print JSON'],
  ],
  async run(session, given) {
    const asked = await askedBy(session, given);
    const file = await outPlaceOf(session, given.options);
    const runner = await session.runner();
    const { data } = await runner.run('sys capabilities-holders', asked);
    await warnOfNoKey(session, runner, textOption(given.options, KEY));
    const holders = data as Holders;
    // Scripts find the columns where they have always been: a token by its accessor. For a person, a token has its name
    // first, and loses the accessor where there is no room for it.
    const shape = {
      table: (): Table => ({ ...tableOf(holders, 'Display name'), whole: 1 }),
      forTerminal: async (): Promise<Table[]> => [{ ...tableOf(holders, 'Accessor'), lesser: [4, 3] }],
    };
    await printResult(session, data, shape, { file, keepBase64: true });
  },
};

/** Warns of a key that does not exist: the answer about it would be as reassuring as about any other. */
async function warnOfNoKey(session: Session, runner: Runner, name: string | undefined): Promise<void> {
  if (name === undefined) return;
  try {
    await runner.run('transit keys read', { name });
  } catch (error) {
    if (asCofferError(error)?.kind !== 'not-found') return;
    const near = await existingNear(session, runner, { kind: 'key', name });
    session.warn(`no key "${name}"${near.length === 0 ? '' : ` (${meantText(near)})`}`);
  }
}

/**
 * Returns what is asked about, in the terms of policies.
 * @throws `invalid` unless either a capability and a path or a key and an operation are given
 */
async function askedBy({ settings }: Session, { arguments: words, options }: Given) {
  const [capability, path] = words;
  const key = textOption(options, KEY);
  const operation = textOption(options, OPERATION);
  if (key === undefined && operation === undefined && capability !== undefined && path !== undefined) {
    if (CAPABILITIES.some((known) => known === capability)) return { capability, path };
    const isOperation = !path.includes('/') && (await takesKey(capability));
    const ofKey = `run "coffer policy who --key ${shellWord(path)} --operation ${capability}"`;
    throw invalid(`unknown capability "${capability}"`, {
      field: 'CAPABILITY',
      hint: isOperation ? ofKey : `use one of ${CAPABILITIES.join(', ')}`,
    });
  }
  if (key === undefined || operation === undefined || capability !== undefined) {
    throw invalid('give either CAPABILITY and PATH, or --key and --operation', {
      hint: 'e.g. --key orders --operation decrypt',
    });
  }
  return onKey(await operationNamed(operation), operation, key, settings.mount);
}

/** Whether the words are those of a command below `transit` whose path depends on its key alone. */
async function takesKey(name: string): Promise<boolean> {
  const entry = new Map(entriesBelow(catalogue.transit, [])).get(name);
  return entry !== undefined && routeOnKey((await entry.load()).declaration) !== undefined;
}

/**
 * Finds an operation below `transit`.
 * @throws `invalid` if there is none
 */
async function operationNamed(name: string): Promise<Operation> {
  const entries = new Map(entriesBelow(catalogue.transit, []));
  const found = entries.get(name);
  if (found !== undefined) return (await found.load()).declaration;
  const near = nearest(name, [...entries.keys()]);
  throw invalid(`unknown operation "${name}"`, {
    field: `--${OPERATION}`,
    hint: near.length > 0 ? meantText(near) : OPERATION_HINT,
  });
}

const entriesBelow = (
  branch: CatalogueBranch,
  path: readonly string[],
): readonly (readonly [name: string, entry: Extract<CatalogueBranch[string], { load: unknown }>])[] =>
  Object.entries(branch).flatMap(([word, node]) =>
    isEntry(node) ? [[[...path, word].join(' '), node] as const] : entriesBelow(node, [...path, word]),
  );

/**
 * Returns what policies are asked about when an operation is run with a key.
 * @throws `invalid` if that depends on more than the key
 */
function onKey(declaration: Operation, operation: string, name: string, mount: string) {
  const found = routeOnKey(declaration);
  if (found === undefined) {
    throw invalid(`the API path of "${operation}" depends on more than the key`, {
      field: `--${OPERATION}`,
      hint: 'give CAPABILITY and PATH instead',
    });
  }
  const { route, param } = found;
  const below = printPath(
    route,
    (part) => (part === param ? name : undefined),
    (segment) => segment,
  );
  return { capability: CAPABILITY_OF[route.method], path: `${mount}/${below}` };
}

/** Returns the route of an operation whose path depends on its key alone, and the parameter of the key. */
function routeOnKey(declaration: Operation): { readonly route: Route; readonly param: string } | undefined {
  const [param] = Object.entries(declaration.params).find(([, { cli }]) => cli.refersTo === 'key') ?? [];
  const route = routesOf(declaration).find(
    (candidate) => candidate.mount !== undefined && needs(candidate).join() === param,
  );
  return param === undefined || route === undefined ? undefined : { route, param };
}

/** Returns the parameters without which a route has no path. */
const needs = ({ parts }: Route): readonly string[] =>
  parts.flatMap((part) => ('param' in part && !part.optional ? [part.param] : []));

/** Result of the operation. */
interface Holders {
  readonly policies: readonly string[];
  readonly logins: readonly {
    readonly mount: string;
    readonly name: string;
    readonly policies: readonly string[];
  }[];
  readonly token_roles: readonly { readonly name: string; readonly policies: readonly string[] }[];
  readonly tokens: readonly {
    readonly accessor: string;
    readonly display_name: string;
    readonly policies: readonly string[];
    readonly expire_time: string | null;
  }[];
}

/** Lists who holds the capability. Of a token, one of accessor and display name is its name. */
const tableOf = (
  { policies, logins, token_roles: roles, tokens }: Holders,
  other: 'Accessor' | 'Display name',
): Table => ({
  head: ['Kind', 'Name', 'Policies', other, 'Expires'],
  rows: [
    ...policies.map((name) => ['policy', name, '', '', '']),
    ...logins.map(({ mount, name, policies: through }) => [
      'login',
      mount + name,
      through.join(', '),
      '',
      '',
    ]),
    ...roles.map(({ name, policies: through }) => ['token role', name, through.join(', '), '', '']),
    ...tokens.map(({ accessor, display_name, policies: through, expire_time: ends }) => {
      const [name, more] = other === 'Accessor' ? [display_name, accessor] : [accessor, display_name];
      return ['token', name, through.join(', '), more, ends === null ? 'never' : timeCell(ends)];
    }),
  ],
});

const ACCESSOR = 'accessor';
/** A token of Coffer or Vault. */
const TOKEN = /^(?:cfr|hvs|hvb|[bs])\.[\w-]{20,}$/;

/**
 * Refuses a token before the paths, as in `vault token capabilities`: as a path, it would be answered for the caller's
 * own token.
 * @throws `invalid`
 */
function refuseTokenAsPath([accessor = '', ...others]: readonly string[]): void {
  if (TOKEN.test(accessor)) {
    throw invalid('a token cannot be passed as an argument: other users could see it', {
      hint: 'write it to a file and use --token-file FILE, or use --accessor ID, which "coffer token list" shows',
    });
  }
  if (others.length > 0 && /^[0-9a-f]{40}$/.test(accessor)) {
    const path = others.map(shellWord).join(' ');
    throw invalid('an accessor is not a path', {
      hint: `run "coffer token capabilities ${path} --accessor ${accessor}"`,
    });
  }
}

/** Command that lists the capabilities of a token on paths, like `vault token capabilities`. */
export const capabilities: OwnCommand = {
  arguments: [
    argument('PATH', 'API path, as in a policy, e.g. transit/encrypt/orders. Can be repeated.', {
      many: true,
    }),
  ],
  options: [
    taking(ACCESSOR, 'ID', 'Check the token with this accessor.', { fallback: 'your own token' }),
    ...outOptions,
  ],
  details:
    'Prints the capabilities that the policies of a token grant on each path: create, read, update, ' +
    'delete, list and sudo; "root" means all of them, "deny" none. Limits that policies set on request parameters are not shown. ' +
    'To check another token, use its accessor or --token-file.',
  examples: [
    ['coffer token capabilities transit/encrypt/orders', 'Check what your token may do'],
    [
      'coffer token capabilities transit/keys/orders --accessor 6f2a9c0e4b7d1f35a8c2e6094d7b13f5a0c8e291',
      'Check the token with this accessor, see "coffer token list"',
    ],
  ],
  async run(session, given) {
    const paths = given.arguments;
    refuseTokenAsPath(paths);
    const file = await outPlaceOf(session, given.options);
    const accessor = textOption(given.options, ACCESSOR);
    const runner = await session.runner();
    const { data } = await (accessor === undefined
      ? askedOfToken(session, runner, paths)
      : runner.run('sys capabilities-accessor', { paths, accessor }));
    const rows = paths.map((path) => [path, capabilitiesIn(data, path).join(', ')]);
    await printResult(
      session,
      Object.fromEntries(paths.map((path) => [path, capabilitiesIn(data, path)])),
      {
        // As Vault prints it: the capabilities alone for a single path.
        lines: () => rows.map((row) => (rows.length === 1 ? row.slice(1) : row).join('\t')),
        table: () => ({ head: ['Path', 'Capabilities'], rows }),
      },
      { file, keepBase64: true },
    );
  },
};

/** Asks about the own token; on a local store, which needs none, about the token of the command line. */
async function askedOfToken(session: Session, runner: Runner, paths: readonly string[]) {
  const { address, token } = session.settings;
  if (address !== undefined || !(session.isTokenGiven || token.kind === 'file'))
    return runner.run('sys capabilities-self', { paths });
  const { givenToken } = await import('../runner-remote.ts');
  return runner.run('sys capabilities', { paths, token: await givenToken(session) });
}

function capabilitiesIn(data: unknown, path: string): readonly string[] {
  const found = isObject(data) ? data[path] : undefined;
  return Array.isArray(found) ? found.map(String) : [];
}
