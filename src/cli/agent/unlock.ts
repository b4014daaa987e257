import { conflict, unavailable } from '../../ground/errors.ts';
import type { AgentStatus, Times, Unlocking } from '../../service/agent/calls.ts';
import { handOver } from '../../store/handed-over.ts';
import type { SealedStore } from '../../store/sealed/sealed-store.ts';
import { givesSecret } from '../secrets/secret-variables.ts';
import type { Session } from '../session.ts';
import { agentDirectory, findAgent, requireDirectory } from './find.ts';
import { startAgent } from './start.ts';
import { DEFAULT_TIMES, durationText, untilText } from './times.ts';

/** Between a look that finds no agent and the start of one, another command may start one, and one may end. */
const ATTEMPTS = 3;

/**
 * Hands an opened store to its agent, which is started when there is none.
 * @throws `conflict` where one runs that would not write the audit trail; `unavailable` when it can't be started, or others could get at
 * it.
 */
export async function keepUnlocked(
  session: Session,
  store: SealedStore,
  times: Times,
  auditFile?: string,
): Promise<AgentStatus> {
  requireDirectory(session).make();
  const unlocking: Unlocking = { handed: await handOver(store), ...times };
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const running = await findAgent(session);
    if (running !== undefined) {
      try {
        if (auditFile !== undefined) throw trailIsChosen();
        return await running.unlock(unlocking);
      } finally {
        running.close();
      }
    }
    if (await startAgent(session, { unlocking, auditFile })) return statusOf(session);
  }
  throw unavailable('agents of this store come and go', { hint: 'try again' });
}

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
