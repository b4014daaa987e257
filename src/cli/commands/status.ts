import { AGENT_EXITED, type AgentConnection } from '../../client/agent.ts';
import { asCofferError, type CofferError, expected, withOtherHint } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { trimSlashes } from '../../ground/trim.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import { type Cell, type Table, timeCell } from '../../operations/declaration/table.ts';
import type { AgentStatus } from '../../service/agent/calls.ts';
import { storeStatus } from '../../store/administration/status.ts';
import { directoryOf, placeWords } from '../../store/backends/registry.ts';
import { kindNames } from '../../store/slots/unlock.ts';
import { agentInPlaceOfSecret } from '../agent/find.ts';
import type { OwnCommand } from '../command.ts';
import { isBrief, printResult } from '../files/output.ts';
import { warnOfOtherServer } from '../other-server.ts';
import { openUnlocked } from '../runner-local.ts';
import { environmentCredentials } from '../secrets/secret-sources.ts';
import { givesSecret } from '../secrets/secret-variables.ts';
import type { Session } from '../session.ts';

export const command: OwnCommand = {
  details:
    'Never prompts. Shows the store as locked if neither an agent nor the environment unlocks it. On a terminal, ' +
    'also shows the keyring of the repository. With a server, also shows as which user you are logged in, if ' +
    'your token may read that.',
  examples: [
    ['coffer status', "Show the store's location and what unlocks it"],
    ['coffer status -o json | jq .locked', 'Check in a script whether the store is locked'],
  ],
  async run(session) {
    const { address } = session.settings;
    const more = isBrief(session) ? await (await import('./status-keyring.ts')).keyringFacts(session) : [];
    const shown =
      address === undefined ? await localStatusBeside(session, more) : await serverStatus(session);
    const words = address === undefined ? placeWords(session.settings.storeLocation) : undefined;
    const brief = isBrief(session) ? await briefTable(session, shown, words, more) : undefined;
    await printResult(session, shown, { table: () => brief ?? statusTable(shown, words) });
  },
};

async function serverStatus(session: Session): Promise<object> {
  const runner = await session.runner();
  const { data } = await runner.run('sys seal-status', {});
  const status = data as { readonly sealed: boolean; readonly cluster_id?: string };
  const { address } = session.settings;
  return { location: address, id: status.cluster_id, locked: status.sealed, address, ...status };
}

/** Returns the status of the store. If there is none, shows at least the keyring before that is reported. */
async function localStatusBeside(session: Session, keyring: readonly Fact[]): Promise<LocalStatus> {
  try {
    return await localStatus(session);
  } catch (error) {
    if (keyring.length > 0)
      await printResult(session, {}, { table: () => ({ head: ['', ''], rows: rowsOf(keyring) }) });
    throw await withoutStore(session, error);
  }
}

/** Returns the error, without the advice to create a store where a repository has values that this would not open. */
async function withoutStore(session: Session, error: unknown): Promise<unknown> {
  const known = asCofferError(error);
  if (known?.kind !== 'not-found' || session.isStoreGiven) return error;
  const { storelessHint } = await import('./status-keyring.ts');
  const hint = await storelessHint(session);
  return hint === undefined ? error : withOtherHint(known, hint);
}

type LocalStatus = Awaited<ReturnType<typeof localStatus>>;

async function localStatus(session: Session) {
  warnOfOtherServer(session);
  const status = await storeStatus(session.settings.storeLocation);
  const connection = await agentInPlaceOfSecret(session);
  const agent = await connection?.status();
  const counts = await countsIfUnlocked(session, agent?.locked === false ? connection : undefined);
  connection?.close();
  return {
    location: status.location,
    directory: directoryOf(session.settings.storeLocation) && status.location,
    format: status.format,
    id: status.id,
    created: status.created,
    locked: counts === undefined,
    sealed: counts === undefined,
    slots: status.slots.map(({ id, kind }) => ({ id, kind })),
    // An agent that gives no counts has exited meanwhile, e.g. because its key slot was removed.
    agent: counts === undefined && agent?.locked === false ? undefined : agent,
    ...counts,
    files: status.files,
    generation: status.generation,
    revision: status.revision,
    damaged: status.damaged.length === 0 ? undefined : status.damaged,
  };
}

/**
 * Returns the counts of the store.
 * @returns undefined if neither an agent nor the environment unlocks it
 */
async function countsIfUnlocked(session: Session, agent: AgentConnection | undefined) {
  let runner: Runner;
  try {
    runner =
      agent?.runner(session.settings) ??
      (await openUnlocked(session, environmentCredentials(session.environment)));
  } catch (error) {
    const known = expected(error, 'sealed', 'denied');
    if (givesSecret(session.environment)) await warnOfUseless(session, known);
    return undefined;
  }
  try {
    return await countsOf(runner);
  } catch (error) {
    if (agent === undefined || !hasExited(error)) throw error;
    return undefined;
  } finally {
    runner.close();
  }
}

/** Whether an agent has lost the store, after it reported it unlocked: its key slot was removed, or it was locked. */
const hasExited = (error: unknown): boolean => {
  const { kind, message } = asCofferError(error) ?? {};
  return kind === 'sealed' || (kind === 'unavailable' && message === AGENT_EXITED);
};

/** Says why the secret of the environment does not unlock the store, which is shown as locked. */
async function warnOfUseless(session: Session, error: CofferError): Promise<void> {
  const { advised } = await import('../secrets/unlock-advice.ts');
  const { message, hint } = asCofferError(await advised(session, error)) ?? error;
  session.warn(hint === undefined ? message : `${message} (${hint})`);
}

/** Returns the counts, which require an unlocked store. */
async function countsOf(runner: Runner) {
  const run = async (path: string, mount?: string): Promise<object> => {
    const { data } = await runner.run(path, {}, mount);
    return data as object;
  };
  const mounts = Object.keys(await run('mounts list'));
  let keys = 0;
  for (const mount of mounts) keys += listLength(await run('transit keys list', trimSlashes(mount)), 'keys');
  return { mounts: mounts.length, keys, organizations: listLength(await run('orgs list'), 'data') };
}

function listLength(answer: object, member: string): number {
  const list = (answer as Readonly<Record<string, unknown>>)[member];
  return Array.isArray(list) ? list.length : 0;
}

/**
 * Formats one line for each fact.
 * @param words wording of the store's location; undefined for a server
 */
function statusTable(shown: object, words: PlaceWords | undefined): Table {
  const { locked, slots, agent, ...all } = shown as Partial<LocalStatus> & { readonly address?: string };
  // Programs find these under two names; users need not read them twice.
  const { sealed: _, directory: __, location, ...others } = all;
  const names: Readonly<Record<string, string | undefined>> = { location: words?.place, files: words?.parts };
  const facts: readonly (readonly [string, unknown])[] = [
    ['state', locked === undefined ? undefined : locked ? 'locked' : 'unlocked'],
    ['opens with', slots?.map(({ kind }) => kind).join(', ')],
    ['agent', agent && agentText(agent)],
    ...Object.entries(words === undefined ? others : { location, ...others }),
  ];
  return {
    head: ['Field', 'Value'],
    rows: facts
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [
        names[name] ?? name,
        typeof value === 'object' ? JSON.stringify(value) : timeCell(String(value)),
      ]),
  };
}

const agentText = ({ locked, idle_until: idle, until }: AgentStatus): string =>
  locked ? 'locked' : `unlocked until ${idle} (later if it is used), at most until ${until}`;

/** Wording of the store's location. */
type PlaceWords = ReturnType<typeof placeWords>;

/**
 * Formats what a user wants to know, in the order of its importance; the rest is for `-o wide`.
 * @param words wording of the store's location; undefined for a server
 * @param more facts that belong neither to the store nor to the server
 */
async function briefTable(
  session: Session,
  shown: object,
  words: PlaceWords | undefined,
  more: readonly Fact[],
): Promise<Table> {
  const facts =
    words === undefined
      ? await serverFacts(session, shown as Parameters<typeof serverFacts>[1])
      : await localFacts(shown as LocalStatus, words);
  return { head: ['', ''], rows: rowsOf([...facts, ...more]), summary: 'More: coffer status -o wide' };
}

const rowsOf = (facts: readonly Fact[]): Table['rows'] =>
  facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));

type Fact = readonly [name: string, value: Cell | undefined];

async function serverFacts(
  session: Session,
  {
    address,
    sealed,
    version,
  }: { readonly address: string; readonly sealed: boolean; readonly version?: string },
): Promise<Fact[]> {
  return [
    ['Address', address],
    ['State', sealed ? 'sealed' : 'unsealed'],
    ['Version', version],
    ...(sealed ? [] : await loginFacts(session, await session.runner(), address)),
  ];
}

async function localFacts(shown: LocalStatus, { place }: PlaceWords): Promise<readonly Fact[]> {
  const { location, locked, agent, slots, created, mounts, keys, organizations, damaged } = shown;
  const isByAgent = agent !== undefined && !agent.locked;
  const lifetime = isByAgent ? (await import('../agent/times.ts')).lifetimeText(agent) : undefined;
  const count = (number: number | undefined): string | undefined => number?.toLocaleString('en');
  return [
    [place.charAt(0).toUpperCase() + place.slice(1), location],
    ['State', lifetime !== undefined ? `unlocked for ${lifetime}` : locked ? 'locked' : 'unlocked'],
    ['Agent', agent?.locked ? 'locked' : undefined],
    ['Opens with', slots.map(({ kind }) => kindNames[kind].replace(/^an? |^the /, '')).join(', ')],
    ['Created', { time: created }],
    ['Keys', count(keys)],
    ['Mounts', count(mounts)],
    ['Organizations', count(organizations)],
    [
      'Damaged',
      damaged && `${damaged.length === 1 ? '1 slot' : `${damaged.length} slots`}: run "coffer doctor"`,
    ],
  ];
}

/** Returns who is logged in to an unsealed server, as far as the token may look itself up. */
async function loginFacts(session: Session, runner: Runner, address: string): Promise<readonly Fact[]> {
  const { tokenFor } = await import('../runner-remote.ts');
  // A token of the command line was given, and reading it again could ask for it again.
  const isGiven = session.settings.token.kind !== 'none';
  if (!isGiven && (await tokenFor(session, address)).token === undefined)
    return [['Logged in', 'no: run "coffer login"']];
  // The only request with the token: asking first whether it is allowed would take another use of a limited token.
  const answer = await runner.run('token lookup-self', {}).catch(() => undefined);
  const details = answer?.data;
  if (!isObject(details))
    return [['Logged in as', 'unknown: the token is invalid, or its policies do not allow looking it up']];
  const { display_name: name, policies, expire_time: ends } = details;
  return [
    ['Logged in as', typeof name === 'string' && name !== '' ? name : 'token'],
    ['Policies', Array.isArray(policies) ? policies.map(String).join(', ') : undefined],
    ['Token expires', typeof ends === 'string' ? timeCell(ends) : 'never'],
  ];
}
