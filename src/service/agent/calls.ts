import type { Duplex } from 'node:stream';
import type { HandedOver } from '../../store/handed-over.ts';
import { readFrames, writeFrame } from '../frames.ts';
import type { Calls, Port } from '../rpc.ts';

/** What our own commands and the agent say to one another, over a Unix socket. @see docs/decisions/0141 */

/** A request of the HTTP API, without HTTP. */
export interface SentRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface SentAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** How long an agent holds a store open, in milliseconds. */
export interface Times {
  /** After the last use. */
  readonly idleMs: number;
  /** After it was unlocked. */
  readonly forMs: number;
}

/** Longer than anybody stays logged in. */
const MOST_MS = 366 * 24 * 3600 * 1000;

/** Whether times that somebody sent are times. */
export const areTimes = ({ idleMs, forMs }: Times): boolean =>
  [idleMs, forMs].every((ms) => typeof ms === 'number' && ms > 0 && ms <= MOST_MS);

/** An opened store, and how long it may stay open. */
export interface Unlocking extends Times {
  readonly handed: HandedOver;
}

/** The same on its way through a socket. */
export interface SentUnlocking extends Times {
  readonly handed: Omit<HandedOver, 'rootKey'> & {
    /** In base64. */
    readonly rootKey: string;
  };
}

/** How an agent shows that it has the store open. */
export interface AgentProof {
  /** To be answered when its times are started anew. */
  readonly nonce: string;
  readonly proof: string;
}

/** New times, from who can open the store. */
export interface ProvenTimes extends Times {
  /** Of the agent. */
  readonly nonce: string;
  readonly proof: string;
}

export interface AgentStatus {
  readonly locked: boolean;
  /** RFC 3339, UTC: when it locks if nobody uses it, and when it locks in any case. */
  readonly idle_until?: string;
  readonly until?: string;
  /** Operations since it was unlocked. */
  readonly uses: number;
  readonly pid: number;
}

/** What an agent can be asked for. */
export interface AgentCalls {
  /** Has an operation run on behalf of the owner. */
  ask(request: SentRequest): Promise<SentAnswer>;
  /** Takes the store over, and starts its times anew. */
  unlock(unlocking: SentUnlocking): Promise<AgentStatus>;
  /** Shows that it has the store open to who has it open, too; null where it has not. */
  prove(nonce: string): Promise<AgentProof | null>;
  /** Starts the times of a store anew that it has open. */
  extend(times: ProvenTimes): Promise<AgentStatus>;
  /** Forgets the store and ends. */
  lock(): Promise<void>;
  /** Does not count as a use. */
  status(): Promise<AgentStatus>;
}

export const AGENT_CALLS: Calls<AgentCalls> = {
  ask: true,
  unlock: true,
  prove: true,
  extend: true,
  lock: true,
  status: true,
};

/** The largest input of a command in base64, with room for what is around it; near what fits into one text. */
const MOST_BYTES = 400 * 2 ** 20;

/**
 * A connection as the end of a channel. Of a peer that asks faster than it reads the answers nothing more is taken in until it
 * has read them.
 */
export const portOver = (socket: Duplex): Port => ({
  send(message) {
    if (socket.destroyed) return;
    writeFrame(socket, { head: message, body: [] });
    if (socket.writableNeedDrain) {
      socket.pause();
      socket.once('drain', () => socket.resume());
    }
  },
  onMessage: (listener) => readFrames(socket, ({ head }) => listener(head), MOST_BYTES),
});
