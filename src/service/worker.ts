import { Socket } from 'node:net';
import type { SealStatus, ServerState } from '../operations/declaration/operation.ts';
import { openStore } from '../store/open.ts';
import { collectKeys } from './collect-keys.ts';
import type { Door, DoorKind } from './door.ts';
import { readFrames, writeFrame } from './frames.ts';
import { boundHeap } from './heap-limits.ts';
import { LANE_PIPE, type LaneStart } from './lane.ts';
import { Log } from './log.ts';
import { portOf, Rpc } from './rpc.ts';
import { Service, type ServiceSettings } from './service.ts';
import { credentialsOf, forget, parseKeys, type SentUnsealKey } from './unseal-keys.ts';

/** What a further process behind the door is told at its start. */
export interface WorkerStart<S> {
  readonly role: 'answering';
  readonly settings: ServiceSettings;
  readonly door: S;
  /** Absent while the server is sealed. */
  readonly keys?: readonly SentUnsealKey[];
}

/**
 * The life of a process that a server started: it is told over Node's channel what to be, and ends with the server.
 * Signals of the terminal are left to the server, which tells its processes when to stop.
 * @param log takes one line of JSON, without a newline.
 */
export async function serveAsWorker<S>(
  door: () => Promise<DoorKind<S>>,
  log: (line: string) => void,
): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  const kind = await door();
  const done = Promise.withResolvers<void>();
  let close: () => Promise<void> = async () => undefined;
  let service: Service | undefined;
  let opened: Door<S> | undefined;
  const rpc: Rpc = new Rpc(portOf(process), {
    async start(argument) {
      const start = argument as WorkerStart<S> | LaneStart;
      if (start.role === 'lane') {
        close = await workOnJobs(kind, start, new Log(log));
        return undefined;
      }
      const made = await Service.create({
        settings: start.settings,
        server: remoteControl(rpc, kind),
        log: new Log(log),
      });
      service = made;
      close = async () => {
        await opened?.close();
        await made.close();
      };
      if (start.keys !== undefined) await made.unseal(parseKeys(start.keys));
      opened = await kind.open(made, start.door);
      boundHeap();
      return opened.addresses;
    },
    unseal: async (keys) => service?.unseal(parseKeys(keys as readonly SentUnsealKey[])),
    async seal() {
      await service?.seal();
      collectKeys();
    },
    reload: async () => service?.reload(),
    renew: async (settings) => opened?.renew(settings as S),
    snapshot: async () => service?.snapshot(),
    close: () => close(),
  });
  process.once('disconnect', () => {
    rpc.close();
    done.resolve(close());
  });
  await done.promise;
}

/** Works on what comes through a pipe. */
async function workOnJobs<S>(kind: DoorKind<S>, start: LaneStart, log: Log): Promise<() => Promise<void>> {
  const settings = start.settings as ServiceSettings;
  const service = await Service.create({ settings, server: NO_SERVER, log });
  const unsealKeys = parseKeys(start.keys);
  await service.adopt(
    await openStore({ location: settings.location, credentials: credentialsOf(unsealKeys) }),
  );
  forget(unsealKeys);
  const pipe = new Socket({ fd: LANE_PIPE });
  readFrames(pipe, (job) => void kind.work(service, job).then((done) => writeFrame(pipe, done)));
  return async () => {
    pipe.destroy();
    await service.close();
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
const remoteControl = (rpc: Rpc, kind: DoorKind<never>): ServerState => ({
  sealStatus: async () => (await rpc.call('sealStatus')) as SealStatus,
  unseal: async (key) => (await rpc.call('unseal', key)) as SealStatus,
  resetUnseal: async () => (await rpc.call('resetUnseal')) as SealStatus,
  seal: async () => void (await rpc.call('seal')),
  reload: async () => void (await rpc.call('reload')),
  metrics: async () => (await rpc.call('metrics')) as string,
  apiDocument: () => kind.describe(),
});
