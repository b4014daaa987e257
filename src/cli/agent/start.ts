import type { Writable } from 'node:stream';
import { wipe } from '../../ground/bytes.ts';
import { unavailable } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { Unlocking } from '../../service/agent/calls.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { lasting, uselessSecrets } from '../../store/backends/registry.ts';
import { ROOT_KEY_BYTES } from '../../store/root-key.ts';
import type { Environment } from '../given.ts';
import { programAfterNode } from '../program.ts';
import { FAMILY_TOKEN, secretVariables } from '../secrets/secret-variables.ts';
import type { Session } from '../session.ts';
import { AGENT_PROCESS } from './agent-process.ts';

/** What an agent in the background is told through its standard input, which nobody else can read. */
export interface AgentStart {
  readonly location: Location;
  readonly auditFile?: string | undefined;
  readonly unlocking: Unlocking;
}

/** What it says on its standard output: one line. */
export type AgentSaid = { readonly listens: true } | { readonly taken: true } | { readonly failed: string };

/**
 * Without a core dump, which would hold the keys. Where there is no limit to set, so be it.
 * @see docs/decisions/0282
 */
const WITHOUT_CORE = ['/bin/sh', '-c', 'ulimit -c 0 2>/dev/null; exec "$@"', 'sh'] as const;
const MOST_SAID_BYTES = 64 * 1024;

/**
 * Starts an agent that outlives this process and its terminal.
 * @returns whether it listens; false when the store has one already.
 * @throws `unavailable` when it can't be started.
 */
export async function startAgent(session: Session, start: Omit<AgentStart, 'location'>): Promise<boolean> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const { storeLocation } = session.settings;
  const [shell, ...before] = WITHOUT_CORE;
  const child = spawn(shell, [...before, process.execPath, ...programAfterNode(), AGENT_PROCESS], {
    detached: true,
    cwd: '/',
    env: withoutSecrets(session.environment, storeLocation),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const gone = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
  tell(child.stdin, { location: lasting(storeLocation), ...start });
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
  const why = answer === undefined ? 'it ended before it said anything' : answer.failed;
  throw unavailable(`the agent could not be started: ${why}`);
}

/** The root key goes as it is, before the rest: as text it would lie in memory until that is used again. */
function tell(stdin: Writable, { unlocking: { handed, ...times }, ...start }: AgentStart): void {
  // It may have ended already, which is told by what it said.
  stdin.on('error', () => undefined);
  const { rootKey, ...others } = handed;
  stdin.write(rootKey, () => wipe(rootKey));
  stdin.end(JSON.stringify({ ...start, unlocking: { handed: others, ...times } }));
}

/** What the process that started this one has told it. @param bytes overwritten, but for the root key, which they hold. */
export function toldBy(bytes: Buffer): AgentStart {
  const [rootKey, text] = [bytes.subarray(0, ROOT_KEY_BYTES), bytes.subarray(ROOT_KEY_BYTES)];
  const { unlocking, ...start } = JSON.parse(text.toString());
  wipe(text);
  return { ...start, unlocking: { ...unlocking, handed: { ...unlocking.handed, rootKey } } };
}

function parse(line: string): AgentSaid | undefined {
  try {
    const said: unknown = JSON.parse(line);
    return isObject(said) ? (said as unknown as AgentSaid) : undefined;
  } catch {
    return undefined;
  }
}

/** It lives on, and needs none of them; nor a location, which may have a password in it. */
function withoutSecrets(environment: Environment, location: Location): NodeJS.ProcessEnv {
  const none = new Set<string>([
    ...secretVariables,
    ...uselessSecrets(location),
    'COFFER_STORE',
    FAMILY_TOKEN,
  ]);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !none.has(name)));
}
