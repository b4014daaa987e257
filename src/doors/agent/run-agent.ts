import { lstatSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { decodeBase64 } from '../../ground/base64.ts';
import { asCofferError, conflict, invalid, placed } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { pause } from '../../ground/pause.ts';
import { Agent } from '../../service/agent/agent.ts';
import {
  AGENT_CALLS,
  type AgentCalls,
  type AgentUnlocking,
  portOver,
  type SentRequest,
} from '../../service/agent/calls.ts';
import type { AgentDirectory } from '../../service/agent/directory.ts';
import { type ListenPlace, listening } from '../../service/listening.ts';
import type { Log } from '../../service/log.ts';
import { isCall, offer, type Port, Rpc } from '../../service/rpc.ts';
import { makeWay, somebodyListens } from '../../service/socket-file.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { FileLock } from '../../store/backends/files/file-lock.ts';
import type { Answer, Exchange } from '../http/exchange.ts';
import { type HttpDoorKind, httpDoor } from '../http/http-door.ts';
import { Listeners } from '../http/http-server.ts';
import { heldBody } from '../http/incoming-body.ts';
import { DEFAULT_MAX_REQUEST_BYTES } from '../http/listen-address.ts';
import { agentDesk } from './agent-desk.ts';
import type { AgentDoorKind } from './agent-door.ts';
import type { Ask } from './desk.ts';
import { openDoorServer } from './door-server.ts';
import { type AskToUnlock, UnlockQuestion } from './questions.ts';
import { AGENT_DOORS } from './registry.ts';

/** Maximum number of connections, more than a parallel build on many cores has. */
const MOST_CONNECTIONS = 512;
/**
 * Close timeout, in milliseconds: operations in progress fail soon, because the store is closed; clients that do not
 * read the response in time get none.
 */
const CLOSE_WITHIN_MS = 1000;
const CLOSE_CHECK_MS = 10;
const ORIGIN = 'http://localhost';

/** Listen addresses of an agent. */
interface AgentPlaces {
  readonly commands: ListenPlace;
  readonly api: ListenPlace;
  readonly others: readonly { readonly kind: AgentDoorKind; readonly place: ListenPlace }[];
}

/** Prompts of an agent; undefined if the user cannot be asked. */
interface UserPrompts {
  /** Called before a key is used. */
  readonly ask?: Ask | undefined;
  /** Called when a program wants a key while the store is locked. */
  readonly askToUnlock?: AskToUnlock | undefined;
}

/**
 * Opens the sockets of an agent: one for Coffer's own commands, which need not load HTTP, and the HTTP API for Vault
 * clients. Clients of both are the owner; clients of the other protocols have what is offered there.
 * @returns how to close them
 * @throws `unavailable` if a socket cannot be created
 * @see docs/decisions/0141
 */
export async function openAgentDoors(
  agent: Agent,
  http: HttpDoorKind,
  places: AgentPlaces,
  { ask, askToUnlock }: UserPrompts,
): Promise<() => Promise<void>> {
  const answer = (exchange: Exchange) =>
    agent.with(isUse(exchange) ? wasDone : undefined, () => http.answer(agent.service, exchange));
  const { commands, answered } = commandServer(callsOf(agent, answer));
  const api = await Listeners.open([{ ...places.api, maxRequestBytes: DEFAULT_MAX_REQUEST_BYTES }], {
    answer,
  });
  const others: (() => void)[] = [];
  const question = askToUnlock && new UnlockQuestion(askToUnlock, (unlocking) => agent.unlockWith(unlocking));
  try {
    for (const { kind, place } of places.others) {
      others.push(await openDoorServer(kind, agentDesk(agent, kind, ask, question), place));
    }
    await listening(commands, places.commands);
  } catch (error) {
    for (const close of others) close();
    await api.close();
    throw error;
  }
  // Refuses new clients, and answers pending requests. Connections of commands end with the process, which tells
  // "lock" that nothing is left of it.
  return async () => {
    commands.close();
    for (const close of others) close();
    await Promise.race([Promise.all([api.close(), answered()]), pause(CLOSE_WITHIN_MS)]);
  };
}

function commandServer(calls: AgentCalls) {
  const callers = new Set<CommandPort>();
  const commands = createServer((socket) => {
    const caller = new CommandPort(socket);
    callers.add(caller);
    const rpc = new Rpc(caller, offer<AgentCalls>(calls, AGENT_CALLS));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      callers.delete(caller);
      rpc.close();
    });
  });
  commands.maxConnections = MOST_CONNECTIONS;
  const answered = async (): Promise<void> => {
    while ([...callers].some(({ isWaiting }) => isWaiting)) await pause(CLOSE_CHECK_MS);
  };
  return { commands, answered };
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'LIST']);

/**
 * Whether a request counts as a use: reading names or the agent's status does not, so that it can be repeated every
 * second without keeping the store open.
 */
const isUse = ({ method, target }: Exchange): boolean => !READS.has(method) && !target.startsWith('/v1/sys/');

const wasDone = ({ status }: Answer): boolean => status < LEAST_REFUSAL;
const LEAST_REFUSAL = 400;

const callsOf = (
  agent: Agent,
  answer: (exchange: Exchange) => ReturnType<HttpDoorKind['answer']>,
): AgentCalls => ({
  async ask(request) {
    if (!isRequest(request)) throw invalid('malformed request');
    const { method, target, headers, body: text } = request;
    const body = heldBody(text === undefined ? undefined : Buffer.from(text));
    const exchange = { method, target, headers, body, remoteAddress: '', origin: ORIGIN };
    const { status, contentType = '', body: given = '' } = await answer(exchange);
    return {
      status,
      contentType,
      body: typeof given === 'string' ? given : Buffer.concat(given).toString(),
    };
  },
  unlock: ({ handed: { rootKey, ...handed }, ...times }) =>
    agent.unlockWith({ handed: { ...handed, rootKey: decodeBase64(rootKey) }, ...times }),
  prove: (nonce) => agent.prove(nonce),
  extend: (times) => agent.extend(times),
  lock: () => agent.lock('a client requested it'),
  status: async () => agent.status(),
});

const isRequest = (value: unknown): value is SentRequest =>
  isObject(value) &&
  typeof value['method'] === 'string' &&
  typeof value['target'] === 'string' &&
  isObject(value['headers']) &&
  (value['body'] === undefined || typeof value['body'] === 'string');

/**
 * Maximum number of calls of one connection in progress. A single read may bring hundreds, each with a large response.
 */
const MOST_CALLS = 16;

/**
 * Connection of one of Coffer's commands. Reading is paused until its requests are answered: a client that never reads
 * the responses only blocks itself.
 */
class CommandPort implements Port {
  readonly #socket: Socket;
  readonly #port: Port;
  readonly #calls: object[] = [];
  #listener: (call: object) => void = () => undefined;
  #inProgress = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#port = portOver(socket);
    socket.on('drain', () => this.#startCalls());
  }

  get isWaiting(): boolean {
    return this.#inProgress > 0 || this.#calls.length > 0;
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#listener = listener;
    this.#port.onMessage((message) => {
      // Other messages get no response, and the peer would wait for one forever.
      if (!isCall(message)) return;
      this.#calls.push(message as object);
      this.#startCalls();
    });
  }

  send(message: object): void {
    this.#inProgress -= 1;
    this.#port.send(message);
    this.#startCalls();
  }

  #startCalls(): void {
    while (this.#inProgress < MOST_CALLS && !this.#socket.writableNeedDrain) {
      const call = this.#calls.shift();
      if (call === undefined) break;
      this.#inProgress += 1;
      this.#listener(call);
    }
    const isIdle = this.#inProgress === 0 && this.#calls.length === 0 && !this.#socket.writableNeedDrain;
    if (isIdle) this.#socket.resume();
    else this.#socket.pause();
  }
}

interface RunAgentOptions extends UserPrompts {
  readonly location: Location;
  readonly directory: AgentDirectory;
  readonly auditFile?: string | undefined;
  readonly log: Log;
  /** Inherited listening sockets, by their names in `SOCKET_NAMES`. */
  readonly descriptors: ReadonlyMap<string, number>;
  /**
   * Returns the handle of the store if it is already open, and forgets it: its key is in a text there, which cannot be
   * wiped.
   */
  readonly takeUnlocking: () => AgentUnlocking | undefined;
  /** Called once it is listening. */
  readonly ready: (agent: Agent, addresses: readonly string[]) => void;
}

const COMMANDS = 'agent';
const API = 'api';
/** Names of the sockets for commands, Vault clients and the protocols: their file names without the extension. */
export const SOCKET_NAMES: readonly string[] = [COMMANDS, API, ...AGENT_DOORS.map(({ name }) => name)];

/** Field of the error for a store that already has an agent. */
export const TAKEN = 'agent';

/** An agent that was just told to exit still holds the lock for a moment. */
const LOCK_TRIES_MS = 5000;
const LOCK_PAUSE_MS = 20;

/**
 * Runs the agent of a store until it has locked.
 * @throws `conflict` if the store already has an agent; `unavailable` if other users can access the directory, or a
 * socket cannot be created
 */
export async function runAgent(options: RunAgentOptions): Promise<void> {
  const { directory } = options;
  directory.make();
  const lock = new FileLock(directory.lock, 0);
  const givingUp = Date.now() + LOCK_TRIES_MS;
  for (;;) {
    let isMine = false;
    try {
      return await lock.hold(async () => {
        isMine = true;
        await listen(options);
      });
    } catch (error) {
      if (isMine || asCofferError(error)?.kind !== 'unavailable') throw error;
      const isTaken = options.descriptors.size === 0 && (await somebodyListens(directory.socket));
      if (isTaken || Date.now() > givingUp) {
        throw conflict('an agent of this store is already running', {
          field: TAKEN,
          hint: placed`use the running agent, or stop it with "coffer lock"; it listens on ${{ file: directory.socket }}`,
        });
      }
      await pause(LOCK_PAUSE_MS);
    }
  }
}

async function listen({
  directory,
  descriptors,
  takeUnlocking,
  ask,
  askToUnlock,
  ready,
  ...options
}: RunAgentOptions): Promise<void> {
  const http = await httpDoor('owner');
  const pathOf = (name: string): string =>
    name === COMMANDS ? directory.socket : name === API ? directory.apiSocket : directory.doorSocket(name);
  const placeOf = (name: string): ListenPlace => {
    const descriptor = descriptors.get(name);
    return descriptor === undefined ? { socket: pathOf(name) } : { descriptor };
  };
  const made = SOCKET_NAMES.filter((name) => !descriptors.has(name)).map(pathOf);
  let inodes: readonly (number | undefined)[] | undefined;
  const agent = await Agent.create({
    ...options,
    describe: () => http.describe(),
    isReachable: () => inodes === undefined || made.every((path, index) => inodeOf(path) === inodes?.[index]),
  });
  try {
    await unlockAtOnce(agent, takeUnlocking);
    // This process holds the lock, so no other agent is listening there.
    for (const path of made) await makeWay(path);
    const places = {
      commands: placeOf(COMMANDS),
      api: placeOf(API),
      others: AGENT_DOORS.map((kind) => ({ kind, place: placeOf(kind.name) })),
    };
    const close = await openAgentDoors(agent, http, places, { ask, askToUnlock });
    inodes = made.map(inodeOf);
    ready(
      agent,
      SOCKET_NAMES.map((name) => `unix:${pathOf(name)}`),
    );
    await agent.locked;
    await close();
  } finally {
    await agent.lock('the agent could not start');
  }
}

/**
 * Unlocks the agent in a separate function, so that no secret remains in the frame that waits for the agent to exit.
 */
async function unlockAtOnce(agent: Agent, take: RunAgentOptions['takeUnlocking']): Promise<void> {
  const unlocking = take();
  if (unlocking !== undefined) await agent.unlockWith(unlocking);
}

const inodeOf = (path: string): number | undefined => lstatSync(path, { throwIfNoEntry: false })?.ino;
