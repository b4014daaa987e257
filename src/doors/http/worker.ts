import { Socket } from 'node:net';
import { catalogue } from '../../operations/catalogue.ts';
import type { SealStatus, ServerState } from '../../operations/declaration/operation.ts';
import { loadRoutes, type ServedRoute } from '../../operations/routes.ts';
import { collectKeys } from '../../service/collect-keys.ts';
import { readFrames, writeFrame } from '../../service/frames.ts';
import { Log } from '../../service/log.ts';
import { portOf, Rpc } from '../../service/rpc.ts';
import { forget, parseKeys, type SentUnsealKey } from '../../service/unseal-keys.ts';
import { AnsweringProcess, type AnsweringSettings } from './answering-process.ts';
import { ApiHost } from './api-host.ts';
import { BATCH_PIPE, type BatchAnswerHead, type BatchRequestHead, type BatchStart } from './batch-lane.ts';
import { describeApi } from './openapi.ts';

/** What a further answering process is told at its start. */
export interface AnsweringStart {
  readonly role: 'answering';
  readonly settings: AnsweringSettings;
  /** Absent while the server is sealed. */
  readonly keys?: readonly SentUnsealKey[];
}

/**
 * The life of a process that a server started: it is told over Node's channel what to be, and ends with the server.
 * Signals of the terminal are left to the server, which tells its processes when to stop.
 * @param log takes one line of JSON, without a newline.
 */
export async function serveAsWorker(log: (line: string) => void): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  const routes = await loadRoutes(catalogue);
  const done = Promise.withResolvers<void>();
  let close: () => Promise<void> = async () => undefined;
  let member: AnsweringProcess | undefined;
  const rpc: Rpc = new Rpc(portOf(process), {
    async start(argument) {
      const start = argument as AnsweringStart | BatchStart;
      if (start.role === 'batch') {
        close = await startBatch(start, routes, new Log(log));
        return undefined;
      }
      member = await AnsweringProcess.create({
        settings: start.settings,
        routes,
        server: new RemoteControl(rpc, routes),
        log: new Log(log),
      });
      close = () => member?.close() ?? Promise.resolve();
      if (start.keys !== undefined) await member.unseal(parseKeys(start.keys));
      return member.listen();
    },
    unseal: async (keys) => member?.unseal(parseKeys(keys as readonly SentUnsealKey[])),
    async seal() {
      await member?.seal();
      collectKeys();
    },
    reload: async () => member?.reload(),
    renewCertificate: async (tls) => member?.renewCertificate(tls as NonNullable<AnsweringSettings['tls']>),
    snapshot: async () => member?.snapshot(),
    close: () => close(),
  });
  process.once('disconnect', () => {
    rpc.close();
    done.resolve(close());
  });
  await done.promise;
}

/** Answers large requests that come through a pipe. */
async function startBatch(
  { settings, keys }: BatchStart,
  routes: readonly ServedRoute[],
  log: Log,
): Promise<() => Promise<void>> {
  const host = await ApiHost.create({ settings, routes, server: NO_SERVER, log });
  const unsealKeys = parseKeys(keys);
  await host.unseal(unsealKeys);
  forget(unsealKeys);
  const pipe = new Socket({ fd: BATCH_PIPE });
  readFrames(pipe, ({ head, body }) => {
    const { number, exchange } = head as BatchRequestHead;
    const answered = host.answer({ ...exchange, body: Buffer.concat(body) });
    void answered.then(({ body: answerBody, ...answer }) => {
      const answerHead: BatchAnswerHead = { number, answer };
      const bytes = typeof answerBody === 'string' ? [Buffer.from(answerBody)] : (answerBody ?? []);
      writeFrame(pipe, answerHead, bytes);
    });
  });
  return async () => {
    pipe.destroy();
    await host.close();
  };
}

const notHere = (): never => {
  throw new Error('only the process that answers requests can do this');
};

/** Requests about the server itself never come to a process for large requests. */
const NO_SERVER: ServerState = {
  sealStatus: notHere,
  unseal: notHere,
  resetUnseal: notHere,
  seal: notHere,
  reload: notHere,
  metrics: notHere,
  apiDocument: notHere,
};

/** The control of the server, which lies in another process. */
class RemoteControl implements ServerState {
  readonly #rpc: Rpc;
  readonly #routes: readonly ServedRoute[];
  #document: object | undefined;

  constructor(rpc: Rpc, routes: readonly ServedRoute[]) {
    this.#rpc = rpc;
    this.#routes = routes;
  }

  async sealStatus(): Promise<SealStatus> {
    return (await this.#rpc.call('sealStatus')) as SealStatus;
  }

  async unseal(key: string): Promise<SealStatus> {
    return (await this.#rpc.call('unseal', key)) as SealStatus;
  }

  async resetUnseal(): Promise<SealStatus> {
    return (await this.#rpc.call('resetUnseal')) as SealStatus;
  }

  async seal(): Promise<void> {
    await this.#rpc.call('seal');
  }

  async reload(): Promise<void> {
    await this.#rpc.call('reload');
  }

  async metrics(): Promise<string> {
    return (await this.#rpc.call('metrics')) as string;
  }

  apiDocument(): object {
    this.#document ??= describeApi(this.#routes);
    return this.#document;
  }
}
