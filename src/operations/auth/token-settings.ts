import { OLDER_NAMES, type OlderName, type TokenSettings } from '../../access/login/token-settings.ts';
import { missingPolicyIn, policyName, ROOT } from '../../access/policies.ts';
import { invalid } from '../../ground/errors.ts';
import { meantText, nearest } from '../../ground/nearness.ts';
import { jsonOf } from '../../ground/objects.ts';
import { duration } from '../declaration/duration.ts';
import { type Runner, resultOf } from '../declaration/operation.ts';
import {
  declare,
  flag,
  givenOf,
  hidden,
  integer,
  type Params,
  textMap,
  texts,
  type ValuesOf,
} from '../declaration/params.ts';
import type { Details } from '../declaration/table.ts';

/** Token settings that the roles of every login method have. */
export const tokenSettingsParams = {
  token_policies: texts({
    help: 'Policies of the tokens issued at login.',
    cli: { metavar: 'P', refersTo: 'policy', formerFlags: ['policy'] },
  }),
  token_no_default_policy: flag({
    help: 'Do not give issued tokens the policy "default".',
    cli: { negatable: 'Give issued tokens the policy "default", as usual.' },
  }),
  token_ttl: duration({ help: 'Time to live of issued tokens (0: default of the login method).' }),
  token_max_ttl: duration({
    help: 'Maximum lifetime of issued tokens, renewals included (0: maximum of the login method).',
  }),
  token_explicit_max_ttl: duration({
    help: 'Hard limit on the lifetime of issued tokens, also of periodic ones.',
  }),
  token_period: duration({
    help: 'Issue periodic tokens: they can be renewed any number of times, each time for this long.',
  }),
  token_num_uses: integer({ help: 'Number of requests that each issued token can make (0: unlimited).' }),
  token_bound_cidrs: texts({
    help: 'Addresses or CIDR blocks from which issued tokens can be used. Default: any.',
    cli: { metavar: 'CIDR' },
  }),
  token_type: declare(
    {
      help: 'Type of issued tokens: service, batch (not stored, cannot be renewed or revoked), or default (as set for the login method, usually service).',
    },
    { type: 'string' },
    parseTokenType,
  ),
  token_strictly_bind_ip: flag({
    help: 'Accept each issued token only from the address of its login.',
    cli: { negatable: 'Do not bind issued tokens to the address of their login.' },
  }),
  alias_metadata: textMap(hidden('Stored for compatibility; has no effect.')),
} as const satisfies Params;

/** How a terminal shows a role or user: without the settings that are as in a new one. */
export const roleDetails: Details = {
  unset: {
    token_no_default_policy: false,
    token_strictly_bind_ip: false,
    token_type: 'default',
    local_secret_ids: false,
  },
};

const older = <N extends OlderName>(name: N) => hidden(`Deprecated alias of \`${OLDER_NAMES[name]}\`.`);

const olderParams = {
  policies: texts(older('policies')),
  ttl: duration(older('ttl')),
  max_ttl: duration(older('max_ttl')),
  period: duration(older('period')),
  num_uses: integer(older('num_uses')),
  bound_cidrs: texts(older('bound_cidrs')),
} as const satisfies Readonly<Record<OlderName, unknown>> & Params;

/** Older parameter names that the clients of one method send; the newer one takes precedence if both are given. */
export const olderTokenParams = <const N extends OlderName>(...names: readonly N[]) =>
  Object.fromEntries(names.map((name) => [name, olderParams[name]])) as Pick<typeof olderParams, N>;

type GivenTokenSettings = Partial<ValuesOf<typeof tokenSettingsParams> & ValuesOf<typeof olderParams>>;

function parseTokenType(value: unknown, field: string): TokenSettings['token_type'] {
  if (value === 'service' || value === 'default-service') return 'service';
  if (value === 'default' || value === '' || value === null) return 'default';
  if (value === 'batch' || value === 'default-batch') return 'batch';
  throw invalid(`invalid 'token_type' value ${jsonOf(value)}`, {
    field,
    hint: 'use one of service, batch, default',
  });
}

/** Returns the settings that were given; those given by an older name, under both. */
export function givenSettings(values: GivenTokenSettings): Partial<TokenSettings> {
  const olderNames = (Object.keys(OLDER_NAMES) as OlderName[]).filter((name) => values[name] !== undefined);
  const older = olderNames.map((name) => [OLDER_NAMES[name], values[name]]);
  const asGiven = olderNames.map((name) => [name, values[name]]);
  return { ...Object.fromEntries([...older, ...asGiven]), ...givenOf(tokenSettingsParams, values) };
}

/** Policies that need not exist in the list. */
const ALWAYS_THERE: ReadonlySet<unknown> = new Set(['root', 'default']);

/** Returns a warning for each policy of a role or user that does not exist: it grants nothing, and may be a typo. */
export async function unknownPolicies(
  { token_policies: given }: Readonly<Record<string, unknown>>,
  runner: Runner,
): Promise<readonly string[]> {
  const words = Array.isArray(given) ? given.flatMap((word) => String(word).split(',')) : [];
  const names = words.map(policyName).filter((name) => name !== '' && !ALWAYS_THERE.has(name));
  if (names.length === 0) return [];
  const keys = await policyNames(runner);
  return names.filter((name) => keys?.includes(name) === false).map((name) => unknownPolicy(name, keys));
}

/** Returns the warnings of a new token, with the policy that was probably meant. */
export async function explainedPolicies(
  warnings: readonly string[],
  runner: Runner,
): Promise<readonly string[]> {
  if (!warnings.some((warning) => missingPolicyIn(warning) !== undefined)) return warnings;
  const keys = await policyNames(runner);
  return warnings.map((warning) => {
    const name = missingPolicyIn(warning);
    return name === undefined ? warning : unknownPolicy(name, keys);
  });
}

async function policyNames(runner: Runner): Promise<readonly string[] | undefined> {
  const { keys } = resultOf(await runner.run('policy list', {})) as { readonly keys?: unknown };
  return Array.isArray(keys) ? keys.map(String) : undefined;
}

function unknownPolicy(name: string, existing: readonly string[] = []): string {
  // No policy can have a name with a comma.
  if (name.includes(',')) return `a policy cannot be named "${name}" (${eachPolicy(name)})`;
  // Nobody is led to a token that may do everything by a slip of the finger.
  const meant = nearest(name, existing).filter((near) => near !== ROOT);
  const create = `create it with "coffer policy write ${name} FILE"`;
  const hint = meant.length === 0 ? create : meantText(meant);
  return `the policy "${name}" does not exist, and grants nothing until it does (${hint})`;
}

/** Returns how several policies are given that were given as one, as other programs take them. */
function eachPolicy(list: string): string {
  const names = list.split(',').filter((name) => name !== '');
  if (names.length === 0) return '"coffer policy list" shows the names';
  return `use ${names.map((name) => `--policy ${name}`).join(' ')}`;
}
