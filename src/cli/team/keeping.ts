import type { Writable } from 'node:stream';
import { connectToKeyringAgent, type KeyringConnection } from '../../client/keyring-agent.ts';
import { wipe } from '../../ground/bytes.ts';
import { asCofferError, closing, expected, unavailable } from '../../ground/errors.ts';
import type { UnlockTimes } from '../../service/agent/calls.ts';
import type { AgentDirectory } from '../../service/agent/directory.ts';
import type { HandedKeyring } from '../../service/agent/keyring-calls.ts';
import { cardsFor } from '../../team/own-key.ts';
import { DEFAULT_TIMES, untilText } from '../agent/times.ts';
import { KEYRING_AGENT_PROCESS } from '../program.ts';
import { keyringAgentDirectories, keyringAgentDirectory } from '../secrets/agent-directory.ts';
import type { Session } from '../session.ts';
import { durationText } from '../terminal/time-texts.ts';
import { agentFailure } from './agent-reading.ts';
import type { TeamKeyring } from './keyring.ts';
import { usableEpochs } from './own-keys.ts';

/*
 * Keeping the root keys of a keyring that was opened in an agent, so that its user is asked once for a while.
 * @see docs/decisions/0307
 */

const ROOT_BYTES = 32;
const COUNT_BYTES = 4;

async function connectTo(directory: AgentDirectory): Promise<KeyringConnection | undefined> {
  if (!directory.isInUse) return undefined;
  directory.verify();
  const connection = await connectToKeyringAgent(directory.socket);
  if (connection !== undefined) return connection;
  const { clearAway } = await import('../../service/socket-file.ts');
  await clearAway(directory);
  return undefined;
}

/**
 * Connects to the agent of a keyring. It is used only by a user with a key of a card that it was opened with, and never
 * by a pipeline.
 */
export async function findKeyringAgent(
  session: Session,
  { state, identities }: Pick<TeamKeyring, 'state' | 'identities'>,
  directory: AgentDirectory,
): Promise<KeyringConnection | undefined> {
  if (identities.atLeast !== undefined) return undefined;
  try {
    const failure = agentFailure(session, state.store);
    if (failure !== undefined) throw failure;
    const connection = await connectTo(directory);
    if (connection === undefined) return undefined;
    const opened = new Set(await connection.cards());
    const own = identities.keys.flatMap((key) => cardsFor(key, state.cards));
    if (own.some(({ id }) => opened.has(id))) return connection;
    connection.close();
  } catch (error) {
    const known = expected(error);
    session.warn(`${known.message}${known.hint === undefined ? '' : ` (${known.hint})`}`);
  }
  return undefined;
}

/**
 * Hands an opened keyring over to an agent, through a pipe to the process that is started for it. One that runs already
 * is ended before.
 * @throws `unavailable`, `unsupported` if it cannot be started, or other users could access it
 */
export async function keepKeyring(session: Session, keyring: TeamKeyring, times: UnlockTimes): Promise<void> {
  const { state, roots } = keyring;
  const directory = keyringAgentDirectory(session.environment, state.store);
  if (directory === undefined) {
    throw unavailable('cannot run an agent here', {
      hint: 'set XDG_RUNTIME_DIR to a directory that only you can access',
    });
  }
  directory.make();
  const handed = { ...(await openedOf(keyring)), roots: roots.known, ...times };
  const running = await connectTo(directory);
  await running?.lock();
  const { startInBackground, withoutSecrets } = await import('../agent/start.ts');
  const env = withoutSecrets(session.environment, session.settings.storeLocation);
  await startInBackground(KEYRING_AGENT_PROCESS, env, (stdin) => tell(stdin, handed));
  const started = await connectTo(directory);
  if (started === undefined)
    throw unavailable('the agent exited right after it started', { hint: 'try again' });
  const status = await closing(started, () => started.status());
  session.say(
    `The keyring is unlocked until idle for ${durationText(times.idleMs)}, at most until ${untilText(status)}. Run "coffer lock" to lock it.`,
  );
}

/** Returns the data that an agent gets in addition to the root keys. Opens nothing that would need another touch. */
async function openedOf({ state, roots, identities }: TeamKeyring) {
  const own = new Set(identities.keys.flatMap((key) => cardsFor(key, state.cards)).map(({ id }) => id));
  const usable = (await usableEpochs({ roots, state })).map(({ id }) => id);
  return { store: state.store, cards: [...own], usable, identities: identities.stamp ?? null };
}

/**
 * Sends the data of the start. The root keys are sent first, as bytes: as a string they would remain in memory until
 * that memory is reused.
 */
function tell(stdin: Writable, { roots, ...others }: HandedKeyring): void {
  const count = Buffer.alloc(COUNT_BYTES);
  count.writeUInt32BE(roots.size);
  const bytes = Buffer.concat([...roots.values()]);
  stdin.write(count);
  stdin.write(bytes, () => wipe(bytes));
  stdin.end(JSON.stringify({ ...others, epochs: [...roots.keys()] }));
}

/**
 * Reads the data that the starting process sent.
 * @param bytes the data; overwritten except for the root keys, which are not copied
 */
export function keyringToldBy(bytes: Buffer): HandedKeyring {
  const end = COUNT_BYTES + bytes.readUInt32BE() * ROOT_BYTES;
  const { epochs, ...others } = JSON.parse(bytes.toString('utf8', end));
  wipe(bytes.subarray(end));
  const roots = new Map<string, Buffer>();
  for (const [index, epoch] of (epochs as readonly string[]).entries()) {
    const start = COUNT_BYTES + index * ROOT_BYTES;
    roots.set(epoch, bytes.subarray(start, start + ROOT_BYTES));
  }
  return { ...others, roots };
}

/**
 * Asks a user whose key has just required a passphrase or a touch whether to keep the keyring unlocked. A no applies to
 * the whole session.
 * @param isKept whether an agent was already running, without the root key that was needed
 */
export async function offerKeeping(session: Session, keyring: TeamKeyring, isKept: boolean): Promise<void> {
  const directory = keyringAgentDirectory(session.environment, keyring.state.store);
  if (directory === undefined || directory.isDeclined || !session.prompts.available()) return;
  const question = `Keep the keyring unlocked until it has been idle for ${durationText(DEFAULT_TIMES.idleMs)}?`;
  const isWanted = isKept || (await session.prompts.confirm(question));
  try {
    if (isWanted) await keepKeyring(session, keyring, DEFAULT_TIMES);
    else directory.decline();
  } catch (error) {
    // The command does not need the agent. A no that cannot be stored is asked for again.
    if (isWanted) session.warn(error instanceof Error ? error.message : 'the agent could not be started');
  }
}

/**
 * Locks all agents of keyrings.
 * @returns how many there were
 */
export async function lockKeyrings(session: Session): Promise<number> {
  let locked = 0;
  for (const directory of keyringAgentDirectories(session.environment)) {
    const connection = await connectTo(directory);
    if (connection === undefined) continue;
    locked += 1;
    try {
      await connection.lock();
    } catch (error) {
      if (asCofferError(error)?.kind !== 'unavailable') throw error;
      const { endAgent } = await import('../agent/listeners.ts');
      const pid = await endAgent(directory.socket);
      if (pid === undefined) throw error;
      session.warn(`the agent of a keyring (process ${pid}) did not respond and was killed`);
    } finally {
      connection.close();
    }
  }
  return locked;
}
