import { resolve } from 'node:path';
import type { AgentConnection } from '../../client/agent.ts';
import { asCofferError, closing } from '../../ground/errors.ts';
import { findAgent, requireDirectory } from '../agent/find.ts';
import { areTimesGiven, timeOptions, timesOf } from '../agent/times.ts';
import { keepUnlocked, requireNoTrailYet, sayUntil } from '../agent/unlock.ts';
import { type OwnCommand, takingFile } from '../command.ts';
import { printDocument } from '../files/output.ts';
import { textOption } from '../given.ts';
import { AUDIT_LOG, auditOption } from '../parse/everywhere.ts';
import { unlockStore } from '../secrets/unlock.ts';
import type { Session } from '../session.ts';

const IDENTITY = 'identity';

export const unlock: OwnCommand = {
  options: [
    ...timeOptions,
    takingFile(IDENTITY, 'Unlock with an age or SSH private key in FILE.'),
    auditOption,
  ],
  details:
    'Prompts once and starts an agent: a background process of the current user that keeps the ' +
    'store unlocked for later commands. If the store is already unlocked, only --idle and --for have an effect: they ' +
    'restart both timers, also the one that is not given, with its default, and ask for the secret again. Commands ' +
    'that manage the store (slots, rekey, backup), export keys or create tokens still ask for the secret.',
  examples: [
    ['coffer unlock', 'Unlock with the default timeouts'],
    ['coffer unlock --idle 1h --for 10h', 'Unlock for a working day'],
  ],
  labelOf: (field) => (field === 'audit' ? `--${AUDIT_LOG}` : undefined),
  async run(session, { options }) {
    session.refuseRemote();
    const times = timesOf(options);
    // Without an agent, nothing is asked.
    requireDirectory(session).make();
    const auditLog = textOption(options, AUDIT_LOG);
    // The agent runs in the root directory.
    const auditFile = auditLog === undefined ? undefined : resolve(auditLog);
    await requireNoTrailYet(session, auditFile);
    const identity = textOption(options, IDENTITY);
    if (!areTimesGiven(options) && identity === undefined && (await isUnlocked(session))) return;
    await closing(await unlockStore(session, { identity }), async (store) => {
      const status = await keepUnlocked(session, store, times, auditFile);
      await printDocument(session, status);
      sayUntil(session, status, times);
    });
  },
};

/** Whether the store is already unlocked; prints its status if it is. */
async function isUnlocked(session: Session): Promise<boolean> {
  const found = await findAgent(session);
  if (found === undefined) return false;
  return closing(found, async (connection) => {
    const status = await connection.status();
    if (status.locked || (await hasLostItsStore(session, connection))) return false;
    await printDocument(session, status);
    session.say('Already unlocked. Use --idle or --for to restart the timers.');
    return true;
  });
}

/**
 * Whether the agent lost access to the store: its slot was removed, or the store was rekeyed. A health request, which
 * does not count as a use, makes the agent notice that and exit.
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

export const lock: OwnCommand = {
  details:
    'Stops the agent of the store and the agents of team keyrings. An agent that does not respond is killed. ' +
    'Without an agent, the store is already locked.',
  examples: [['coffer lock', 'Lock before leaving your computer']],
  async run(session) {
    const { lockKeyrings } = await import('../team/keeping.ts');
    const keyrings = await lockKeyrings(session);
    if (keyrings === 0 || session.settings.address === undefined) session.refuseRemote();
    const connection = session.settings.address === undefined ? await findAgent(session) : undefined;
    if (connection === undefined) {
      session.remark(keyrings > 0 ? 'Locked.' : 'Already locked.');
      return;
    }
    try {
      await connection.lock();
      session.remark('Locked.');
    } catch (error) {
      const pid = await killUnanswering(session, error);
      if (pid !== undefined) {
        session.warn(
          `the agent (process ${pid}) did not respond and was killed; acknowledged changes are on disk`,
        );
      }
      session.remark('Locked.');
    }
  },
};

/**
 * Kills an agent that does not answer: a stopped or hanging agent would continue to hold the key.
 * @returns process ID; undefined if it has ended by itself
 * @throws `error` if it cannot be killed
 */
async function killUnanswering(session: Session, error: unknown): Promise<number | undefined> {
  if (asCofferError(error)?.kind !== 'unavailable') throw error;
  const { endAgent } = await import('../agent/listeners.ts');
  const pid = await endAgent(requireDirectory(session).socket);
  // Also removes the sockets that it left.
  const other = await findAgent(session);
  // A service manager has started the next agent, which is locked.
  const isNext = (await other?.status().catch(() => undefined))?.locked === true;
  other?.close();
  if (pid === undefined && other !== undefined && !isNext) throw error;
  return pid;
}
