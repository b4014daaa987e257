import { randomUUID } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { dataStatus } from '../../../src/doors/http/status-codes.ts';
import { isObject } from '../../../src/ground/objects.ts';
import { catalogue } from '../../../src/operations/catalogue.ts';
import { resultOf } from '../../../src/operations/declaration/operation.ts';
import type { Method } from '../../../src/operations/declaration/route.ts';
import type { AnswerPrinter, AskedRequest, Result } from '../../../src/operations/pipeline/asked-request.ts';
import { VaultEndpoints } from '../../../src/operations/pipeline/endpoints.ts';
import { malformed, perform } from '../../../src/operations/pipeline/perform.ts';
import { loadRoutes } from '../../../src/operations/routes.ts';
import type { DoorKind } from '../../../src/service/door.ts';
import { listening } from '../../../src/service/listening.ts';
import type { Service } from '../../../src/service/service.ts';

/**
 * A door as docs/contributing.md tells to make one, to the letter, for a protocol that nobody speaks: a line `METHOD PATH TOKEN LENGTH`
 * and as many bytes of JSON on a Unix socket, one request a connection; the answer is a line of JSON. `-` stands for no token.
 */

interface LineSettings {
  readonly socket: string;
}

const METHODS: readonly Method[] = ['GET', 'LIST', 'POST', 'DELETE'];

/** What is written back. */
interface LineAnswer {
  readonly data?: unknown;
  readonly error?: string;
  readonly message?: string;
}

export async function lineDoor(): Promise<DoorKind<LineSettings>> {
  const endpoints = new VaultEndpoints(await loadRoutes(catalogue));
  return {
    async open(service, { socket }) {
      const server = createServer((connection) => {
        connection.on('error', () => undefined);
        void answer(service, endpoints, connection);
      });
      await listening(server, { socket });
      return {
        addresses: [`unix:${socket}`],
        renew: () => undefined,
        close: () => new Promise((resolve) => server.close(() => resolve())),
      };
    },
  };
}

async function answer(service: Service, endpoints: VaultEndpoints, connection: Socket): Promise<void> {
  const come = new Come(connection);
  const failed = (error: unknown) => failure(service, 'GET', error).answer;
  const answered = await answerTo(service, endpoints, come).catch(failed);
  connection.end(`${JSON.stringify(answered)}\n`);
}

async function answerTo(service: Service, endpoints: VaultEndpoints, come: Come): Promise<LineAnswer> {
  const [word, path = '', token = '-', length = '0'] = (await come.line()).split(' ');
  const { served } = service;
  if (served === undefined) return { error: 'sealed' };
  const method = METHODS.find((known) => known === word);
  if (method === undefined) return { error: 'invalid', message: 'no such method' };
  const asked: AskedRequest = {
    id: randomUUID(),
    endpoint: endpoints.at(await served.look(), method, path),
    token: token === '-' ? undefined : token,
    remoteAddress: '',
    async parameters() {
      const sent: unknown = length === '0' ? {} : JSON.parse(await come.text(Number(length)));
      if (!isObject(sent)) throw malformed();
      return { sent, recorded: sent };
    },
  };
  return perform(served, asked, doorOf(service, method));
}

function doorOf(service: Service, method: Method): AnswerPrinter<LineAnswer> {
  const denied = (): Result<LineAnswer> => ({ answer: { error: 'denied' }, status: 403, error: 'denied' });
  return {
    unauthenticated: denied,
    denied,
    missing: () => ({ answer: { error: 'not-found' }, status: 404, error: 'nothing is there' }),
    printed: ({ outcome }) => {
      const data = resultOf(outcome);
      return { answer: { data }, status: 200, data };
    },
    failed: (error) => failure(service, method, error),
    unrecorded: (error) => failure(service, method, error).answer,
  };
}

function failure(service: Service, method: Method, error: unknown): Result<LineAnswer> {
  const known = service.failed(error);
  if (known === undefined) return { answer: { error: 'failed' }, status: 500, error: 'internal error' };
  const { kind, message } = known;
  return { answer: { error: kind, message }, status: dataStatus(known, method), error: message };
}

/** What has come in, taken in as it is asked for. */
class Come {
  readonly #pieces: AsyncIterator<Buffer>;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(connection: Socket) {
    this.#pieces = connection.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    while (!this.#bytes.includes('\n')) await this.#more();
    const end = this.#bytes.indexOf('\n');
    const line = this.#bytes.toString('utf8', 0, end);
    this.#bytes = this.#bytes.subarray(end + 1);
    return line;
  }

  async text(length: number): Promise<string> {
    while (this.#bytes.length < length) await this.#more();
    return this.#bytes.toString('utf8', 0, length);
  }

  /** @throws `invalid` at the end. */
  async #more(): Promise<void> {
    const { value, done } = await this.#pieces.next();
    if (done) throw malformed();
    this.#bytes = Buffer.concat([this.#bytes, value]);
  }
}
