import { closeSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { attempt } from '../ground/errors.ts';
import type { ServerState } from '../operations/declaration/operation.ts';
import type { Sighting } from '../store/backends/witness.ts';
import { openStore } from '../store/open.ts';
import type { Member } from './control.ts';
import type { DoorKind, OpenListener } from './door.ts';
import { boundHeap, collectKeys } from './heap.ts';
import { LANE_CALLS, LANE_PIPE, type LaneProcess, type LaneStart } from './lanes.ts';
import { Log } from './log.ts';
import { type CallNames, offer, portOf, Rpc, readFrames, remote, writeFrame } from './rpc.ts';
import { Service, type ServiceSettings } from './service.ts';
import { credentialsOf, forget, parseKeys, type SentUnsealKey } from './unseal-keys.ts';

/** Start parameters of a worker process. */
export interface WorkerStart<S> {
  readonly settings: ServiceSettings;
  readonly door: S;
  /** Unseal keys; absent while the server is sealed. */
  readonly keys?: readonly SentUnsealKey[] | undefined;
  /** Last-seen state of the store, from earlier processes. */
  readonly seen?: Sighting | undefined;
}

/** Calls that the server makes to a worker process. */
export interface WorkerProcess<S> extends Omit<Member, 'unseal'> {
  /**
   * Starts it.
   * @returns the addresses that it listens on
   */
  start(start: WorkerStart<S>): Promise<readonly string[]>;
  unseal(keys: readonly SentUnsealKey[]): Promise<void>;
  renew(door: S): Promise<void>;
  /** Finishes requests in progress. */
  close(): Promise<void>;
}

export const WORKER_CALLS: CallNames<WorkerProcess<never>> = {
  start: true,
  unseal: true,
  seal: true,
  reload: true,
  renew: true,
  seen: true,
  snapshot: true,
  close: true,
};

/** Calls that a worker makes to the server. */
export const SERVER_CALLS: CallNames<ServerState> = {
  sealStatus: true,
  unseal: true,
  resetUnseal: true,
  seal: true,
  reload: true,
  metrics: true,
};

/**
 * Runs a process that a server started: it gets its task over Node's channel, and exits with the server. Signals of the
 * terminal are handled by the server, which tells its processes when to stop.
 * @param log receives one line of JSON, without a newline
 */
export async function serveAsWorker<S>(
  door: () => Promise<DoorKind<S>>,
  log: (line: string) => void,
): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  const kind = await door();
  const done = Promise.withResolvers<void>();
  const started = Promise.withResolvers<{ readonly service: Service; readonly opened: OpenListener<S> }>();
  let close: () => Promise<void> = async () => undefined;
  const worker: WorkerProcess<S> = {
    async start({ settings, door: doorSettings, keys, seen }) {
      const service = await Service.create({ settings, server, log: new Log(log), seen });
      close = () => service.close();
      if (keys !== undefined) await service.unseal(parseKeys(keys));
      const opened = await kind.open(service, doorSettings);
      close = async () => {
        await opened.close();
        await service.close();
      };
      boundHeap();
      started.resolve({ service, opened });
      return opened.addresses;
    },
    unseal: async (keys) => (await started.promise).service.unseal(parseKeys(keys)),
    async seal() {
      await (await started.promise).service.seal();
      collectKeys();
    },
    reload: async () => (await started.promise).service.reload(),
    renew: async (settings) => (await started.promise).opened.renew(settings),
    seen: async () => (await started.promise).service.seen(),
    snapshot: async () => (await started.promise).service.snapshot(),
    close: () => close(),
  };
  const lane: LaneProcess = {
    async workOnJobs(start) {
      close = await workOnJobs(kind, start, server, new Log(log));
    },
  };
  const rpc = new Rpc(portOf(process), {
    ...offer<WorkerProcess<S>>(worker, WORKER_CALLS),
    ...offer<LaneProcess>(lane, LANE_CALLS),
  });
  const server: ServerState = {
    ...remote<ServerState>(rpc, SERVER_CALLS),
    apiDocument: () => kind.describe?.() ?? {},
  };
  process.once('disconnect', () => {
    rpc.close();
    done.resolve(close());
  });
  await done.promise;
}

/** Linux file that sets how likely the kernel is to kill a process when the machine runs out of memory. */
const OOM_SCORE = '/proc/self/oom_score_adj';
const MOST_GLADLY = Buffer.from('1000');

/** Prefers this process over the server for the OOM killer. Other systems do not have the file. */
function offerToGoFirst(): void {
  // If that fails, the kernel chooses on its own.
  attempt(() => {
    const file = openSync(OOM_SCORE, 'r+');
    writeSync(file, MOST_GLADLY);
    closeSync(file);
  });
}

/** Processes jobs from a pipe. */
async function workOnJobs<S>(
  kind: DoorKind<S>,
  start: LaneStart,
  server: ServerState,
  log: Log,
): Promise<() => Promise<void>> {
  offerToGoFirst();
  const settings = start.settings as ServiceSettings;
  // Calls to `server` are never answered: requests about the server itself are not sent here.
  const service = await Service.create({ settings, server, log });
  const unsealKeys = parseKeys(start.keys);
  await service.adopt(
    await openStore({
      location: settings.location,
      credentials: credentialsOf(unsealKeys),
      seen: start.seen,
    }),
  );
  forget(unsealKeys);
  const pipe = new Socket({ fd: LANE_PIPE });
  readFrames(pipe, (job) => void kind.work?.(service, job).then((done) => writeFrame(pipe, done)));
  return async () => {
    pipe.destroy();
    await service.close();
  };
}
