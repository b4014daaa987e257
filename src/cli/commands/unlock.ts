import type { AgentConnection } from '../../client/agent.ts';
import { asCofferError } from '../../ground/errors.ts';
import { findAgent, requireDirectory } from '../agent/find.ts';
import { areTimesGiven, timeOptions, timesOf } from '../agent/times.ts';
import { keepUnlocked, requireNoTrailYet, sayUntil } from '../agent/unlock.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { printDocument } from '../files/output.ts';
import { textOption } from '../given.ts';
import { AUDIT_LOG, auditOption } from '../parse/audit-option.ts';
import { unlockStore } from '../secrets/unlock.ts';
import type { Session } from '../session.ts';

export const unlock: Command = {
  arguments: [],
  options: [...timeOptions, auditOption],
  details:
    'Asks once and leaves an agent behind: a process of this user that holds the store open, and that every later command finds. ' +
    'A store that is unlocked already stays as it is, unless --idle or --for start its times anew. What manages the store ' +
    'itself (slots, rekey, backups), takes keys out of it or makes tokens asks all the same.',
  examples: [
    ['coffer unlock', 'Ask once, for a while'],
    ['coffer unlock --idle 1h --for 10h', 'For a day at the desk'],
  ],
  labelOf: (field) => (field === 'audit' ? `--${AUDIT_LOG}` : undefined),
  async run(session, { options }) {
    session.refuseRemote();
    const times = timesOf(options);
    // Without an agent, nothing is asked.
    requireDirectory(session).make();
    const auditFile = textOption(options, AUDIT_LOG);
    await requireNoTrailYet(session, auditFile);
    if (!areTimesGiven(options) && (await isUnlocked(session))) return DONE;
    const store = await unlockStore(session);
    try {
      const status = await keepUnlocked(session, store, times, auditFile);
      await printDocument(session, status);
      sayUntil(session, status, times);
    } finally {
      store.close();
    }
    return DONE;
  },
};

/** Whether the store is already unlocked; prints its status if it is. */
async function isUnlocked(session: Session): Promise<boolean> {
  const connection = await findAgent(session);
  if (connection === undefined) return false;
  try {
    const status = await connection.status();
    if (status.locked || (await hasLostItsStore(session, connection))) return false;
    await printDocument(session, status);
    session.say('It is unlocked already; --idle or --for starts its times anew.');
    return true;
  } finally {
    connection.close();
  }
}

/**
 * Whether the agent lost access to the store: its slot was removed, or the store was rekeyed. A health request, which
 * is no use, makes it notice that and end.
 */
async function hasLostItsStore(session: Session, connection: AgentConnection): Promise<boolean> {
  try {
    const { data } = await connection.runner(session.settings).run('sys health', { sealedcode: 200 });
    if (!(data as { readonly sealed: boolean }).sealed) return false;
    await connection.lock();
  } catch (error) {
    if (asCofferError(error) === undefined) throw error;
    return (await findAgent(session)) === undefined;
  }
  return true;
}

export const lock: Command = {
  arguments: [],
  options: [],
  details:
    'Ends the agent of the store at once; one that does not answer is killed. A store without one is locked already.',
  examples: [['coffer lock', 'Before you leave the desk']],
  async run(session) {
    session.refuseRemote();
    const connection = await findAgent(session);
    if (connection === undefined) {
      session.remark('It was locked already.');
      return DONE;
    }
    try {
      await connection.lock();
      session.remark('Locked.');
    } catch (error) {
      const pid = await killUnanswering(session, error);
      if (pid !== undefined) {
        session.warn(
          `the agent (process ${pid}) did not answer, so it was killed; what was acknowledged is on disk`,
        );
      }
      session.remark('Locked.');
    }
    return DONE;
  },
};

/**
 * Kills an agent that does not answer: a stopped or hanging agent would continue to hold the key.
 * @returns process ID; undefined if it has ended by itself
 * @throws `error` if it cannot be killed
 */
async function killUnanswering(session: Session, error: unknown): Promise<number | undefined> {
  if (asCofferError(error)?.kind !== 'unavailable') throw error;
  const { endAgent } = await import('../agent/end-agent.ts');
  const pid = await endAgent(requireDirectory(session).socket);
  // Also removes the sockets that it left.
  const other = await findAgent(session);
  // A service manager has started the next agent, which is locked.
  const isNext = (await other?.status().catch(() => undefined))?.locked === true;
  other?.close();
  if (pid === undefined && other !== undefined && !isNext) throw error;
  return pid;
}
