import { type AgentConnection, UNANSWERED } from '../../client/agent.ts';
import { asCofferError, closing, conflict, placed, unavailable } from '../../ground/errors.ts';
import type { AgentProof, AgentStatus, UnlockTimes } from '../../service/agent/calls.ts';
import type { AgentDirectory } from '../../service/agent/directory.ts';
import { agentProof, freshNonce, isProof, ownerProof } from '../../service/agent/proof.ts';
import { handOver, sharedKey } from '../../store/handed-over.ts';
import type { SealedStore } from '../../store/sealed/sealed-store.ts';
import { agentDirectory } from '../secrets/agent-directory.ts';
import { givesSecret } from '../secrets/secret-variables.ts';
import type { Session } from '../session.ts';
import { durationText } from '../terminal/time-texts.ts';
import { findAgent, requireDirectory } from './find.ts';
import { startAgent } from './start.ts';
import { DEFAULT_TIMES, untilText } from './times.ts';

/**
 * Number of attempts: between the search for an agent and the start of one, another command may start one, and one may
 * end.
 */
const ATTEMPTS = 3;

/**
 * Hands an opened store over to its agent, which is started if there is none: then the root key goes through a pipe to
 * the process just started. An agent that already has the store open proves that, and is sent only the new times.
 * @throws `conflict` if the running agent does not write the requested audit log; `unavailable` if it cannot be
 * started, or other users could access it
 * @see docs/decisions/0281
 */
export async function keepUnlocked(
  session: Session,
  store: SealedStore,
  times: UnlockTimes,
  auditFile?: string,
): Promise<AgentStatus> {
  const directory = requireDirectory(session);
  directory.make();
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const running = await findAgent(session);
    if (running !== undefined) {
      const status = await closing(running, () => {
        if (auditFile !== undefined) throw trailIsChosen();
        return unlockRunning(running, directory, store, times);
      });
      if (status !== undefined) return status;
      continue;
    }
    const unlocking = { handed: await handOver(store), ...times };
    if (await startAgent(session, { unlocking, auditFile })) return statusOf(session);
  }
  throw unavailable('cannot start the agent: it exited again after each of several attempts', {
    hint: 'try again',
  });
}

/**
 * Unlocks a running agent, or sets its times if it has the store open.
 * @returns its status; undefined if its root key was another one, after it was locked
 * @throws `unavailable` if the listening process is not an agent
 */
async function unlockRunning(
  running: AgentConnection,
  directory: AgentDirectory,
  store: SealedStore,
  times: UnlockTimes,
): Promise<AgentStatus | undefined> {
  const key = await sharedKey(store);
  const asked = freshNonce();
  const shown = await running.prove(asked).catch(ofOtherAgent);
  if (shown === null) {
    const { waitsOn } = await import('./listeners.ts');
    if (waitsOn(directory.socket) === false) throw noAgent(directory);
    return running.unlock({ handed: await handOver(store), ...times });
  }
  const { nonce, proof } = shown;
  if (typeof nonce === 'string' && isProof(proof, agentProof(key, asked, nonce))) {
    return running.extend({ ...times, nonce, proof: ownerProof(key, nonce, times) });
  }
  // The store was rekeyed, which the agent has not noticed yet. It may be ending already.
  await running.lock().catch(unlessOver);
  return undefined;
}

/**
 * Returns an empty proof for an agent that has been locked permanently, or that is of an earlier release without this
 * call.
 * @throws the error if it is not an answer of an agent
 */
function ofOtherAgent(error: unknown): AgentProof {
  unlessOver(error);
  return { nonce: '', proof: '' };
}

function unlessOver(error: unknown): void {
  const known = asCofferError(error);
  if (known === undefined || known.message === UNANSWERED) throw error;
}

const noAgent = ({ socket }: AgentDirectory) =>
  unavailable(
    placed`the process listening on ${{ file: socket }} is not an agent of this version of Coffer, so the store was not passed to it`,
    {
      hint: 'find out which process it is and stop it; if a service manager started an agent before Coffer was updated, restart that service',
    },
  );

/**
 * Returns the error for another audit log than the running agent writes. An agent opens its audit log when it starts;
 * another file would lack its earlier entries.
 */
const trailIsChosen = () =>
  conflict('the agent of this store is already running; its audit log cannot be changed', {
    field: 'audit',
    hint: 'run "coffer lock" first, or set --audit-log where "coffer agent run" is started',
  });

/**
 * Checks, before the user is asked for a secret, that no agent is running if an audit log is requested.
 * @throws `conflict` if one is running
 */
export async function requireNoTrailYet(session: Session, auditFile: string | undefined): Promise<void> {
  if (auditFile === undefined) return;
  const running = await findAgent(session);
  running?.close();
  if (running !== undefined) throw trailIsChosen();
}

async function statusOf(session: Session): Promise<AgentStatus> {
  const connection = await findAgent(session);
  if (connection === undefined)
    throw unavailable('the agent exited right after it started', { hint: 'try again' });
  return closing(connection, () => connection.status());
}

/** Prints until when the store is unlocked. */
export const sayUntil = (session: Session, status: AgentStatus, { idleMs }: UnlockTimes): void =>
  session.say(
    `Unlocked until idle for ${durationText(idleMs)}, at most until ${untilText(status)}. Run "coffer lock" to lock it.`,
  );

/**
 * Asks the user who has just typed a passphrase whether to keep the store unlocked. A no applies to the whole session.
 * With a variable that unlocks the store, the agent would not be used, so there is no question.
 */
export async function offerAgent(session: Session, store: SealedStore): Promise<void> {
  const directory = agentDirectory(session);
  if (directory === undefined || directory.isDeclined || givesSecret(session.environment)) return;
  const running = await findAgent(session);
  running?.close();
  if (running !== undefined) return;
  const question = `Keep the store unlocked until it has been idle for ${durationText(DEFAULT_TIMES.idleMs)}?`;
  const isWanted = await session.prompts.confirm(question);
  try {
    if (isWanted) sayUntil(session, await keepUnlocked(session, store, DEFAULT_TIMES), DEFAULT_TIMES);
    else directory.decline();
  } catch (error) {
    // The command does not need the agent. A no that cannot be stored is asked for again.
    if (isWanted) session.warn(error instanceof Error ? error.message : 'the agent could not be started');
  }
}
