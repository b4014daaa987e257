import { type AgentConnection, UNANSWERED } from '../../client/agent.ts';
import { asCofferError, conflict, placed, unavailable } from '../../ground/errors.ts';
import type { AgentProof, AgentStatus, Times } from '../../service/agent/calls.ts';
import type { AgentDirectory } from '../../service/agent/directory.ts';
import { agentProof, freshNonce, isProof, ownerProof } from '../../service/agent/proof.ts';
import { handOver, sharedKey } from '../../store/handed-over.ts';
import type { SealedStore } from '../../store/sealed/sealed-store.ts';
import { givesSecret } from '../secrets/secret-variables.ts';
import type { Session } from '../session.ts';
import { agentDirectory, findAgent, requireDirectory } from './find.ts';
import { startAgent } from './start.ts';
import { DEFAULT_TIMES, durationText, untilText } from './times.ts';

/** Between a look that finds no agent and the start of one, another command may start one, and one may end. */
const ATTEMPTS = 3;

/**
 * Hands an opened store to its agent, which is started when there is none: then what opens the store goes through a pipe to the very process that
 * was started. One that has the store open proves it, and is sent new times alone.
 * @throws `conflict` where one runs that would not write the audit trail; `unavailable` when it can't be started, or others could get at
 * it.
 * @see docs/decisions/0281
 */
export async function keepUnlocked(
  session: Session,
  store: SealedStore,
  times: Times,
  auditFile?: string,
): Promise<AgentStatus> {
  const directory = requireDirectory(session);
  directory.make();
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const running = await findAgent(session);
    if (running !== undefined) {
      try {
        if (auditFile !== undefined) throw trailIsChosen();
        const status = await unlockRunning(running, directory, store, times);
        if (status !== undefined) return status;
        continue;
      } finally {
        running.close();
      }
    }
    const unlocking = { handed: await handOver(store), ...times };
    if (await startAgent(session, { unlocking, auditFile })) return statusOf(session);
  }
  throw unavailable('agents of this store come and go', { hint: 'try again' });
}

/** @returns undefined when it had something else open, and has ended. @throws `unavailable` where it is no agent that listens. */
async function unlockRunning(
  running: AgentConnection,
  directory: AgentDirectory,
  store: SealedStore,
  times: Times,
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
  // The store was rekeyed, and it has not seen that yet. It may be ending already.
  await running.lock().catch(unlessOver);
  return undefined;
}

/** It has locked for good, or is of an earlier release and knows no such call: it proves nothing. @throws what is no answer. */
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
    placed`what listens on ${{ file: socket }} is no agent of this very program, so it is not given the store`,
    {
      hint: 'find out what it is, and end it; an agent that a service manager started before Coffer was updated has to be restarted',
    },
  );

/** An agent opens its trail when it starts: what it did before would not stand in another one. */
const trailIsChosen = () =>
  conflict('an agent of this store runs already, and writes no other audit trail than it was started with', {
    field: 'audit',
    hint: 'end it with "coffer lock" first; where a service manager starts it, say it there, to "coffer agent run"',
  });

/** Before anybody is asked for a secret. @throws as `keepUnlocked`. */
export async function requireNoTrailYet(session: Session, auditFile: string | undefined): Promise<void> {
  if (auditFile === undefined) return;
  const running = await findAgent(session);
  running?.close();
  if (running !== undefined) throw trailIsChosen();
}

async function statusOf(session: Session): Promise<AgentStatus> {
  const connection = await findAgent(session);
  if (connection === undefined) throw unavailable('the agent has ended again', { hint: 'try again' });
  try {
    return await connection.status();
  } finally {
    connection.close();
  }
}

/** Says until when a store is open. */
export const sayUntil = (session: Session, status: AgentStatus, { idleMs }: Times): void =>
  session.say(
    `Unlocked until it is unused for ${durationText(idleMs)}, and until ${untilText(status)} at the latest. Lock it with "coffer lock".`,
  );

/**
 * Asks whoever has just typed a passphrase whether the next commands may go without. A no holds for the session; and with a variable
 * that is to unlock the store no agent would be used.
 */
export async function offerAgent(session: Session, store: SealedStore): Promise<void> {
  const directory = agentDirectory(session);
  if (directory === undefined || directory.isDeclined || givesSecret(session.environment)) return;
  const running = await findAgent(session);
  running?.close();
  if (running !== undefined) return;
  const question = `Keep it unlocked until it is unused for ${durationText(DEFAULT_TIMES.idleMs)}?`;
  const isWanted = await session.prompts.confirm(question);
  try {
    if (isWanted) sayUntil(session, await keepUnlocked(session, store, DEFAULT_TIMES), DEFAULT_TIMES);
    else directory.decline();
  } catch (error) {
    // The command itself can do without; a no that can't be kept is asked for again.
    if (isWanted) session.warn(error instanceof Error ? error.message : 'the agent could not be started');
  }
}
