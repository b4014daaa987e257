import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { sourceOf } from '../../access/login/sources.ts';
import { Places, type Room } from '../../ground/places.ts';

/** A connection as far as it takes up a place. */
export interface Connection extends Ends {
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** What tells a connection from all others, before and behind the encryption of it. */
export type Ends = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

interface Held {
  readonly connection: Connection;
  readonly source: string;
  /** Both ends. */
  readonly key: string;
  /** How many requests of it are being answered. */
  answering: number;
  /** To be called once a request of it is answered. */
  readonly answered: () => void;
}

const MOST = 8192;
const MOST_OF_ONE = 2048;
/** Of the files that the process may have open; the rest is for the store and what it asks elsewhere. */
const SHARE_OF_FILES = 0.75;

/** As many connections as a process of this machine can well have. */
export function roomForConnections(): Room {
  const most = Math.min(MOST, Math.floor(openFilesLimit() * SHARE_OF_FILES));
  return { most, mostOfOne: Math.min(MOST_OF_ONE, Math.floor(most / 2)) };
}

/** Where the machine doesn't say, there are as many as are wanted. */
function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const soft = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1]);
    return Number.isNaN(soft) ? Number.POSITIVE_INFINITY : soft;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * The connections of a process, by where they come from. At the bound of a source its connection on which nothing is being answered
 * for the longest time makes way for a new one, as any that is idle may be closed at any time; and when there is room for no more, one
 * of the source that has most. Those of a Unix socket, which only the owner can have, are not counted.
 * @see docs/decisions/0275
 */
export class ConnectionPlaces {
  readonly #places: Places;
  /** By source; what was used last stands last. */
  readonly #held = new Map<string, Set<Held>>();
  readonly #byEnds = new Map<string, Held>();
  /** So that a connection is looked for once, and not with each of its requests. */
  readonly #known = new WeakMap<Ends, Held>();

  constructor(room: Room = roomForConnections()) {
    this.#places = new Places(room);
  }

  /** A connection came; hangs up where there is no place for it. */
  met(connection: Connection): void {
    const { remoteAddress } = connection;
    if (remoteAddress === undefined) return;
    const source = sourceOf(remoteAddress);
    if (!this.#places.enter(source)) {
      this.#dropIdle(this.#places.mayHoldMore(source) ? this.#places.owesTo(source) : source);
      if (!this.#places.enter(source)) {
        connection.destroy();
        return;
      }
    }
    const ofSource = this.#held.get(source) ?? new Set<Held>();
    const answered = (): void => {
      held.answering -= 1;
      if (ofSource.delete(held)) ofSource.add(held);
    };
    const held: Held = { connection, source, key: keyOf(connection), answering: 0, answered };
    ofSource.add(held);
    this.#held.set(source, ofSource);
    this.#byEnds.set(held.key, held);
    this.#known.set(connection, held);
    connection.once('close', () => this.#forget(held));
  }

  /** A request came on a connection. @returns what to call once it is answered. */
  asked(ends: Ends): () => void {
    const held = this.#known.get(ends) ?? this.#find(ends);
    if (held === undefined) return nothing;
    held.answering += 1;
    return held.answered;
  }

  /** What comes out of the encryption is another object than what was met, with the same ends. */
  #find(ends: Ends): Held | undefined {
    const held = ends.remoteAddress === undefined ? undefined : this.#byEnds.get(keyOf(ends));
    if (held !== undefined) this.#known.set(ends, held);
    return held;
  }

  #dropIdle(source: string | undefined): void {
    for (const held of (source === undefined ? undefined : this.#held.get(source)) ?? []) {
      if (held.answering > 0) continue;
      this.#forget(held);
      held.connection.destroy();
      return;
    }
  }

  #forget(held: Held): void {
    const { source, key } = held;
    const ofSource = this.#held.get(source);
    if (ofSource?.delete(held) !== true) return;
    if (this.#byEnds.get(key) === held) this.#byEnds.delete(key);
    if (ofSource.size === 0) this.#held.delete(source);
    this.#places.leave(source);
  }
}

const nothing = (): void => undefined;

const keyOf = ({ remoteAddress, remotePort, localAddress, localPort }: Ends): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
