import { connect, type Socket } from 'node:net';
import { encodeBase64 } from '../ground/base64.ts';
import { wipe } from '../ground/bytes.ts';
import { asCofferError, CofferError, sealed, unavailable } from '../ground/errors.ts';
import { inTime, pause } from '../ground/pause.ts';
import type { Runner } from '../operations/declaration/operation.ts';
import type { RunnerOptions } from '../operations/runner.ts';
import {
  AGENT_CALLS,
  type AgentCalls,
  type AgentStatus,
  type AgentUnlocking,
  portOver,
} from '../service/agent/calls.ts';
import { type CallNames, Rpc, remote } from '../service/rpc.ts';
import { SEALED_SERVER } from './answer.ts';
import { remoteRunner } from './remote-runner.ts';
import { ANSWER_WITHIN_MS, perhapsDone, type Transport } from './request.ts';

/** Connection to an agent. All methods throw `unavailable` if the agent exits or does not respond. */
export interface AgentConnection extends Pick<AgentCalls, 'status' | 'prove' | 'extend' | 'lock'> {
  /**
   * Transfers the handle of an open store: the caller must have verified that only the user's agent can listen there.
   */
  unlock(unlocking: AgentUnlocking): Promise<AgentStatus>;
  /** Creates a runner in the agent, as the owner. Closing it closes the connection. */
  runner(options: RunnerOptions): Runner;
  close(): void;
}

/** Bearer that identifies Coffer's own client, which gets its own dialect; agents ignore the token. */
const BEARER = { token: 'owner', namespace: undefined };
/** Message of the error of a connection that was closed by an agent. */
export const AGENT_EXITED = 'the agent exited';
/** The message of the error when an agent is there and does not answer. */
export const UNANSWERED = 'the agent does not respond';

/** Timeout in milliseconds for calls that a running agent answers immediately. */
export const AT_ONCE_MS = 10_000;
const SUSPENDED_HINT = 'check whether the agent is suspended, or run "coffer lock" to kill it';
/** Time in milliseconds after which the agent is asked whether it works on an operation or hangs; both make one timeout. */
const DOUBTFUL_AFTER_MS = AT_ONCE_MS / 2;

/**
 * Connects to the agent on a Unix socket.
 * @param hangs called with a message once if an operation is not answered because the agent hangs
 * @returns undefined if nothing listens there, or the connection is refused
 */
export async function connectToAgent(
  path: string,
  hangs: (message: string) => void = () => undefined,
): Promise<AgentConnection | undefined> {
  const connection = await callsOn(path, AGENT_CALLS, AGENT_EXITED);
  if (connection === undefined) return undefined;
  const { within, closed, close } = connection;
  const calls: AgentCalls = connection.calls(AT_ONCE_MS);
  const { ask }: AgentCalls = connection.calls(ANSWER_WITHIN_MS);
  const { status: isAlive }: AgentCalls = connection.calls();
  const transport: Transport = {
    async send({ changes, ...request }) {
      try {
        return await watched(ask(request), isAlive, () => hangs(`${UNANSWERED} yet (${SUSPENDED_HINT})`));
      } catch (error) {
        if (!changes || !connection.isClosed() || !(error instanceof CofferError)) throw error;
        throw perhapsDone(error);
      }
    },
    close,
  };
  return {
    ...calls,
    unlock({ handed, ...times }) {
      const rootKey = encodeBase64(handed.rootKey);
      wipe(handed.rootKey);
      return calls.unlock({ handed: { ...handed, rootKey }, ...times });
    },
    lock: () =>
      within(
        AT_ONCE_MS,
        Promise.all([calls.lock(), closed]).then(() => undefined),
      ),
    runner: (options) => inOwnWords(remoteRunner(transport, BEARER, options)),
    close,
  };
}

/**
 * Connects to the process on a Unix socket that answers calls.
 * @param gone message of the error if it exits
 * @returns undefined if nothing listens there, or the connection is refused
 */
export async function callsOn<T>(path: string, names: CallNames<T>, gone: string) {
  const socket = await connected(path);
  if (socket === undefined) return undefined;
  const rpc = new Rpc(portOver(socket), {}, gone);
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      rpc.close();
      resolve();
    });
  });
  const close = (): void => void socket.destroy();
  const within = <V>(ms: number, answer: Promise<V>): Promise<V> =>
    inTime(answer, ms, () => {
      close();
      throw unavailable(UNANSWERED, { hint: SUSPENDED_HINT });
    });
  return {
    /** Returns the calls, each of which must be answered in this time, if one is given. */
    calls: (ms?: number) =>
      remote<T>(
        ms === undefined ? rpc : { call: (name, argument) => within(ms, rpc.call(name, argument)) },
        names,
      ),
    within,
    /** Resolves when the connection is closed. */
    closed,
    isClosed: (): boolean => socket.destroyed,
    close,
  };
}

/**
 * Waits for an answer, which may take its time.
 * @param status asks for what an agent that works on something answers at once
 * @param hangs called if it does not
 */
async function watched<T>(answer: Promise<T>, status: () => Promise<unknown>, hangs: () => void): Promise<T> {
  const doubt = setTimeout(() => {
    // It fails if the connection is closed meanwhile, which the answer shows as well.
    inTime(status(), DOUBTFUL_AFTER_MS, hangs).catch(() => undefined);
  }, DOUBTFUL_AFTER_MS);
  try {
    return await answer;
  } finally {
    clearTimeout(doubt);
  }
}

/** Returns the runner with the words for an agent that has lost its store: there is no server to unseal. */
function inOwnWords(runner: Runner): Runner {
  const worded = (error: unknown): never => {
    if (asCofferError(error)?.message !== SEALED_SERVER) throw error;
    throw sealed('the store is locked', { hint: 'run "coffer unlock"', cause: error });
  };
  return {
    ...runner,
    run: (operation, raw, mount) => runner.run(operation, raw, mount).catch(worded),
    at: (asked) => runner.at(asked).catch(worded),
  };
}

const ATTEMPTS = 50;
const RETRY_MS = 20;

/**
 * Connects to a Unix socket. The kernel refuses connections beyond its queue length, so retry.
 * @returns undefined if nothing listens there, or the connection is refused
 */
export async function connected(path: string): Promise<Socket | undefined> {
  for (let attempt = 1; ; attempt++) {
    const { promise, resolve } = Promise.withResolvers<Socket | string>();
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => resolve(code));
    const found = await promise;
    if (typeof found !== 'string') return found;
    if (found !== 'EAGAIN' || attempt === ATTEMPTS) return undefined;
    await pause(RETRY_MS);
  }
}
