import type { Duplex } from 'node:stream';
import type { HandedOver } from '../../store/handed-over.ts';
import { type CallNames, type Port, readFrames, writeFrame } from '../rpc.ts';

/**
 * Protocol between Coffer's own commands and the agent, over a Unix socket.
 * @see docs/decisions/0141
 */

/** Request of the HTTP API, without HTTP. */
export interface SentRequest {
  readonly method: string;
  /** Path and query, encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** Timeouts of an open store, in milliseconds. */
export interface UnlockTimes {
  /** Idle timeout, counted from the last use. */
  readonly idleMs: number;
  /** Total timeout, counted from unlocking. */
  readonly forMs: number;
}

/** Maximum timeout, in milliseconds: longer than any login session. */
const MOST_MS = 366 * 24 * 3600 * 1000;

/** Whether received timeouts are valid. */
export const areTimes = ({ idleMs, forMs }: UnlockTimes): boolean =>
  [idleMs, forMs].every((ms) => typeof ms === 'number' && ms > 0 && ms <= MOST_MS);

/** Handle of an opened store, with its timeouts. */
export interface AgentUnlocking extends UnlockTimes {
  readonly handed: HandedOver;
}

/** The unlocking as JSON, for the socket. */
interface SentUnlocking extends UnlockTimes {
  readonly handed: Omit<HandedOver, 'rootKey'> & {
    /** In base64. */
    readonly rootKey: string;
  };
}

/** Proof of an agent that it has the store open. */
export interface AgentProof {
  /** Nonce for the proof that resets the timeouts. */
  readonly nonce: string;
  readonly proof: string;
}

/** New timeouts, with a proof that the caller can open the store. */
export interface ProvenTimes extends UnlockTimes {
  /** Nonce of the agent. */
  readonly nonce: string;
  readonly proof: string;
}

export interface AgentStatus {
  readonly locked: boolean;
  /** RFC 3339, UTC: lock time if it is not used, and lock time in any case. */
  readonly idle_until?: string;
  readonly until?: string;
  /** Number of operations since it was unlocked. */
  readonly uses: number;
  readonly pid: number;
}

/** Calls that an agent accepts. */
export interface AgentCalls {
  /** Runs an operation as the owner. */
  ask(
    request: SentRequest,
  ): Promise<{ readonly status: number; readonly contentType: string; readonly body: string }>;
  /** Transfers an open store to the agent, and resets its timeouts. */
  unlock(unlocking: SentUnlocking): Promise<AgentStatus>;
  /** Proves that it has the store open, to a caller that has it open as well; null if it has not. */
  prove(nonce: string): Promise<AgentProof | null>;
  /** Resets the timeouts of an open store. */
  extend(times: ProvenTimes): Promise<AgentStatus>;
  /** Locks the store; resolves when the agent has exited. */
  lock(): Promise<void>;
  /** Returns the status. Does not count as a use. */
  status(): Promise<AgentStatus>;
}

export const AGENT_CALLS: CallNames<AgentCalls> = {
  ask: true,
  unlock: true,
  prove: true,
  extend: true,
  lock: true,
  status: true,
};

/**
 * Maximum size of a message in bytes: the largest input of a command in base64, with space for the rest; close to the
 * maximum length of a string.
 */
const MOST_BYTES = 400 * 2 ** 20;

/**
 * Wraps a connection as a port. If a peer sends faster than it reads the responses, reading from it is paused until it
 * has read them.
 */
export function portOver(socket: Duplex): Port {
  socket.on('drain', () => socket.resume());
  return {
    send(message) {
      if (socket.destroyed) return;
      writeFrame(socket, { head: message, body: [] });
      if (socket.writableNeedDrain) socket.pause();
    },
    onMessage: (listener) => readFrames(socket, ({ head }) => listener(head), MOST_BYTES),
  };
}
