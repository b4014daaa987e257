import { lstatSync } from 'node:fs';
import { asCofferError, conflict, placed } from '../../ground/errors.ts';
import { pause } from '../../ground/pause.ts';
import { Agent } from '../../service/agent/agent.ts';
import type { Unlocking } from '../../service/agent/calls.ts';
import type { AgentDirectory } from '../../service/agent/directory.ts';
import type { ListenPlace } from '../../service/listening.ts';
import type { Log } from '../../service/log.ts';
import { makeWay, somebodyListens } from '../../service/socket-file.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { FileLock } from '../../store/backends/files/file-lock.ts';
import { httpDoor } from '../http/http-door.ts';
import { AgentDoors, type Asking } from './agent-doors.ts';
import { AGENT_DOORS } from './registry.ts';

export interface RunAgentOptions extends Asking {
  readonly location: Location;
  readonly directory: AgentDirectory;
  readonly auditFile?: string | undefined;
  readonly log: Log;
  /** Listening sockets that whoever started the process has made, by their names in `SOCKET_NAMES`. */
  readonly descriptors: ReadonlyMap<string, number>;
  /** Gives the store, when it is open already, and forgets it: its key stands there as text, which nobody can wipe. */
  readonly takeUnlocking: () => Unlocking | undefined;
  /** Called once it listens. */
  readonly ready: (agent: Agent, addresses: readonly string[]) => void;
}

const COMMANDS = 'agent';
const API = 'api';
/** For commands, for programs of the family, and for the doors: as their files are called, without the ending. */
export const SOCKET_NAMES: readonly string[] = [COMMANDS, API, ...AGENT_DOORS.map(({ name }) => name)];

/** The field that the error names when the store has an agent already. */
export const TAKEN = 'agent';

/** Who was just told to end still holds the lock for a moment. */
const LOCK_TRIES_MS = 5000;
const LOCK_PAUSE_MS = 20;

/**
 * Runs the agent of a store until it has locked.
 * @throws `conflict` when the store has one already; `unavailable` when the place for it is not for this user alone, or a socket
 * can't be had.
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
        throw conflict('this store has an agent already', {
          field: TAKEN,
          hint: placed`it listens on ${{ file: directory.socket }}`,
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
    // Whoever holds the lock may: nobody listens there any more.
    for (const path of made) await makeWay(path);
    const places = {
      commands: placeOf(COMMANDS),
      api: placeOf(API),
      others: AGENT_DOORS.map((kind) => ({ kind, place: placeOf(kind.name) })),
    };
    const doors = await AgentDoors.open(agent, http, places, { ask, askToUnlock });
    inodes = made.map(inodeOf);
    ready(
      agent,
      SOCKET_NAMES.map((name) => `unix:${pathOf(name)}`),
    );
    await agent.locked;
    await doors.close();
  } finally {
    await agent.lock('it could not listen');
  }
}

/** Nothing of it stays behind in whoever waits for the agent to end. */
async function unlockAtOnce(agent: Agent, take: RunAgentOptions['takeUnlocking']): Promise<void> {
  const unlocking = take();
  if (unlocking !== undefined) await agent.unlockWith(unlocking);
}

const inodeOf = (path: string): number | undefined => lstatSync(path, { throwIfNoEntry: false })?.ino;
