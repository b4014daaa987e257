import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { sourceOf } from '../../access/login/networks.ts';
import { attempt } from '../../ground/errors.ts';
import { type PlaceLimits, Places } from '../../ground/places.ts';
import { TrustedProxies } from './trusted-proxies.ts';

/** Connection that counts against the limits. */
export interface Connection extends ConnectionEnds {
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** Endpoints that identify a connection, both of the socket and of its TLS wrapper. */
type ConnectionEnds = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

interface Held {
  readonly connection: Connection;
  readonly source: string;
  /** Key of both endpoints. */
  readonly key: string;
  /** Number of requests being answered. */
  answering: number;
  /** Called after a response. */
  readonly answered: () => void;
}

const MOST = 8192;
const MOST_OF_ONE = 2048;
/** Share of the process's file descriptors for connections; the rest is for the store and outgoing requests. */
const SHARE_OF_FILES = 0.75;

/** Returns the limits for a process on this machine. */
function roomForConnections(): PlaceLimits {
  const most = Math.min(MOST, Math.floor(openFilesLimit() * SHARE_OF_FILES));
  return { most, mostOfOne: Math.min(MOST_OF_ONE, Math.floor(most / 2)) };
}

/** Returns the limit of open files; unlimited if unknown. */
const openFilesLimit = (): number =>
  attempt(() => {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const soft = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1]);
    return Number.isNaN(soft) ? Number.POSITIVE_INFINITY : soft;
  }, Number.POSITIVE_INFINITY);

/**
 * Connections of a process, by source. When a source reaches its limit, its connection that has been idle for the
 * longest time is closed in favor of a new one, because idle connections may be closed at any time; when the total
 * limit is reached, one of the source with the most connections. A trusted proxy, which connects for many clients, may
 * have all but those of another source. Connections of a Unix socket, which only the owner can open, are not counted.
 * @see docs/decisions/0275
 */
export class ConnectionPlaces {
  readonly #room: PlaceLimits;
  readonly #proxies: TrustedProxies;
  readonly #places: Places;
  /** Held connections by source; the most recently used is last. */
  readonly #held = new Map<string, Set<Held>>();
  readonly #byEnds = new Map<string, Held>();
  /** Caches the lookup of a connection across its requests. */
  readonly #known = new WeakMap<ConnectionEnds, Held>();

  constructor(room: PlaceLimits = roomForConnections(), proxies: TrustedProxies = new TrustedProxies([])) {
    this.#room = room;
    this.#proxies = proxies;
    this.#places = new Places(room);
  }

  /** Registers a new connection; closes it if there is no capacity. */
  met(connection: Connection): void {
    const { remoteAddress } = connection;
    if (remoteAddress === undefined) return;
    const source = sourceOf(remoteAddress);
    const { most, mostOfOne } = this.#room;
    const limit = this.#proxies.trusts(remoteAddress) ? Math.max(mostOfOne, most - mostOfOne) : mostOfOne;
    if (!this.#places.enter(source, limit)) {
      const isBelowItsLimit = this.#places.mayHoldMore(source, limit);
      this.#dropIdle((isBelowItsLimit ? this.#places.owesTo(source) : undefined) ?? source);
      if (!this.#places.enter(source, limit)) {
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

  /**
   * Registers a request on a connection.
   * @returns function to call once it is answered
   */
  asked(ends: ConnectionEnds): () => void {
    const held = this.#known.get(ends) ?? this.#find(ends);
    if (held === undefined) return nothing;
    held.answering += 1;
    return held.answered;
  }

  /** Finds a connection by its endpoints: a TLS socket is a different object than the accepted connection. */
  #find(ends: ConnectionEnds): Held | undefined {
    const held = ends.remoteAddress === undefined ? undefined : this.#byEnds.get(keyOf(ends));
    if (held !== undefined) this.#known.set(ends, held);
    return held;
  }

  #dropIdle(source: string): void {
    for (const held of this.#held.get(source) ?? []) {
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

const keyOf = ({ remoteAddress, remotePort, localAddress, localPort }: ConnectionEnds): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
