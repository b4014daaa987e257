import type { Writable } from 'node:stream';
import { wipe } from '../../ground/bytes.ts';
import { attempt, unavailable } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { AgentUnlocking } from '../../service/agent/calls.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { lasting, uselessSecrets } from '../../store/backends/registry.ts';
import { ROOT_KEY_BYTES } from '../../store/root-key.ts';
import type { Environment } from '../given.ts';
import { AGENT_PROCESS, programAfterNode } from '../program.ts';
import { FAMILY_TOKEN, secretVariables } from '../secrets/secret-variables.ts';
import type { Session } from '../session.ts';

/** Data that an agent in the background reads from its standard input, which no other process can read. */
interface AgentStart {
  readonly location: Location;
  readonly auditFile?: string | undefined;
  readonly unlocking: AgentUnlocking;
}

/** Line that the agent writes to its standard output. */
export type AgentSaid = { readonly listens: true } | { readonly taken: true } | { readonly failed: string };

/**
 * Command that runs a program without core dumps, which would contain keys. If the limit cannot be set, the program
 * runs anyway.
 * @see docs/decisions/0282
 */
const WITHOUT_CORE = ['/bin/sh', '-c', 'ulimit -c 0 2>/dev/null; exec "$@"', 'sh'] as const;
const MOST_SAID_BYTES = 64 * 1024;

/**
 * Starts an agent that outlives this process and its terminal.
 * @returns whether it listens; false if the store already has an agent
 * @throws `unavailable` if it cannot be started
 */
export async function startAgent(session: Session, start: Omit<AgentStart, 'location'>): Promise<boolean> {
  const { storeLocation } = session.settings;
  const env = withoutSecrets(session.environment, storeLocation);
  return startInBackground(AGENT_PROCESS, env, (stdin) =>
    tell(stdin, { location: lasting(storeLocation), ...start }),
  );
}

/**
 * Starts an agent as a command in the background, which says on its standard output what became of it.
 * @param tell writes the data of the start to its standard input
 * @returns whether it listens; false if there is one already
 * @throws `unavailable` if it cannot be started
 */
export async function startInBackground(
  command: string,
  env: NodeJS.ProcessEnv,
  tell: (stdin: Writable) => void,
): Promise<boolean> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const [shell, ...before] = WITHOUT_CORE;
  const child = spawn(shell, [...before, process.execPath, ...programAfterNode(), command], {
    detached: true,
    cwd: '/',
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const gone = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
  // It may have ended already, which its output shows.
  child.stdin.on('error', () => undefined);
  tell(child.stdin);
  let line = '';
  const said = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      line += chunk.toString();
      if (line.endsWith('\n') || line.length > MOST_SAID_BYTES) resolve();
    });
  });
  await Promise.race([said, gone]);
  child.stdout.destroy();
  child.unref();
  const answer = parse(line);
  if (answer !== undefined && 'listens' in answer) return true;
  if (answer !== undefined && 'taken' in answer) return false;
  const why = answer === undefined ? 'it exited without output' : answer.failed;
  throw unavailable(`cannot start the agent: ${why}`);
}

/**
 * Sends the data of the start. The root key is sent first, as bytes: as a string it would remain in memory until that
 * memory is reused.
 */
function tell(stdin: Writable, { unlocking: { handed, ...times }, ...start }: AgentStart): void {
  const { rootKey, ...others } = handed;
  stdin.write(rootKey, () => wipe(rootKey));
  stdin.end(JSON.stringify({ ...start, unlocking: { handed: others, ...times } }));
}

/**
 * Reads the data that the starting process sent.
 * @param bytes the data; overwritten except for the root key, which is not copied
 */
export function toldBy(bytes: Buffer): AgentStart {
  const [rootKey, text] = [bytes.subarray(0, ROOT_KEY_BYTES), bytes.subarray(ROOT_KEY_BYTES)];
  const { unlocking, ...start } = JSON.parse(text.toString());
  wipe(text);
  return { ...start, unlocking: { ...unlocking, handed: { ...unlocking.handed, rootKey } } };
}

function parse(line: string): AgentSaid | undefined {
  const said: unknown = attempt(() => JSON.parse(line));
  return isObject(said) ? (said as unknown as AgentSaid) : undefined;
}

/**
 * Returns the environment without secrets, which the long-lived agent does not need, and without the location, which
 * may contain a password.
 */
export function withoutSecrets(environment: Environment, location: Location): NodeJS.ProcessEnv {
  const none = new Set<string>([...secretVariables, ...uselessSecrets(location), FAMILY_TOKEN]);
  const others = Object.entries(environment).filter(([name]) => !none.has(name));
  return { ...Object.fromEntries(others), COFFER_STORE: NO_STORE };
}

/**
 * Location that agents do not use, because theirs is sent to them. Without any, they would look for the default one,
 * which not every user has.
 */
const NO_STORE = '/';
