import { createServer, type Socket } from 'node:net';
import { decodeBase64 } from '../../ground/base64.ts';
import { invalid } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { pause } from '../../ground/pause.ts';
import type { Agent } from '../../service/agent/agent.ts';
import { AGENT_CALLS, type AgentCalls, portOver, type SentRequest } from '../../service/agent/calls.ts';
import { type ListenPlace, listening } from '../../service/listening.ts';
import { isCall, offer, type Port, Rpc } from '../../service/rpc.ts';
import type { Answer, Exchange } from '../http/exchange.ts';
import type { HttpDoorKind } from '../http/http-door.ts';
import { Listeners } from '../http/http-server.ts';
import { heldBody } from '../http/incoming-body.ts';
import { DEFAULT_MAX_REQUEST_BYTES } from '../http/listen-address.ts';
import { agentDesk } from './agent-desk.ts';
import type { AgentDoorKind } from './agent-door.ts';
import type { Ask } from './desk.ts';
import { openDoorServer } from './door-server.ts';
import { type AskToUnlock, UnlockQuestion } from './questions.ts';

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
export interface UserPrompts {
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
  const api = await Listeners.open(
    [{ ...places.api, maxRequestBytes: DEFAULT_MAX_REQUEST_BYTES }],
    undefined,
    answer,
  );
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
