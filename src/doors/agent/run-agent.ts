import { lstatSync } from 'node:fs';
import { asCofferError, conflict, placed } from '../../ground/errors.ts';
import { pause } from '../../ground/pause.ts';
import { Agent } from '../../service/agent/agent.ts';
import type { AgentUnlocking } from '../../service/agent/calls.ts';
import type { AgentDirectory } from '../../service/agent/directory.ts';
import type { ListenPlace } from '../../service/listening.ts';
import type { Log } from '../../service/log.ts';
import { makeWay, somebodyListens } from '../../service/socket-file.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { FileLock } from '../../store/backends/files/file-lock.ts';
import { httpDoor } from '../http/http-door.ts';
import { openAgentDoors, type UserPrompts } from './agent-doors.ts';
import { AGENT_DOORS } from './registry.ts';

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
          hint: placed`that agent listens on ${{ file: directory.socket }}`,
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
    await agent.lock('it could not listen');
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
