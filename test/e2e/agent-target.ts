import { mkdirSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { hasProcessFiles, shownOf } from '../hygiene/processes.ts';
import {
  emptyPlace,
  MASTER_KEY,
  Place,
  type Result,
  type RunOptions,
  removePlace,
  type Target,
  type Way,
} from './harness.ts';

export { isGone } from '../hygiene/processes.ts';

/** A place of which the agents, if it gets any, are found in a directory of its own. */
export function placeForAgents(
  environment: Readonly<Record<string, string | undefined>> = {},
  way: Way = 'here',
): Place {
  const bare = emptyPlace(environment, way);
  const runtime = bare.file('run');
  mkdirSync(runtime, { mode: 0o700 });
  return bare.with({ XDG_RUNTIME_DIR: runtime });
}

/** The same store, from where its agent is not found: another host's, say. */
export function fromElsewhere(place: Place): Place {
  const runtime = place.file('run-elsewhere');
  mkdirSync(runtime, { mode: 0o700, recursive: true });
  return place.with({ XDG_RUNTIME_DIR: runtime });
}

/** What takes the secret again: there it is given. */
const ASKS_AGAIN = new RegExp(
  [
    'transit (?:backup|byok-export|import|import-version|keys export|restore)',
    'transit keys (?:create|config) .*--(?:exportable|allow-plaintext-backup)',
    'mounts move',
    'token (?:create|create-by-role|renew|roles (?:write|delete))',
    'policy (?:write|delete)',
    'auth (?:enable|disable|tune)',
    'auth approle (?:write|delete|role-id|secret-id|custom-secret-id)',
    'auth userpass (?:write|delete|password)',
    'auth jwt (?:configure|write|delete)',
    'auth cert (?:write|delete|set-revocations|delete-revocations)',
    '(?:write|read) auth/',
  ]
    .map((command) => `^${command}\\b`)
    .join('|'),
);

class UnlockedPlace extends Place {
  override async run(line: string | readonly string[], options: RunOptions = {}): Promise<Result> {
    const words = typeof line === 'string' ? line : line.join(' ');
    if (!ASKS_AGAIN.test(words)) return super.run(line, options);
    return super.run(line, {
      ...options,
      environment: { COFFER_MASTER_KEY: MASTER_KEY, ...options.environment },
    });
  }
}

/** Commands that know no secret, but whose store was unlocked before. */
export const agent: Target = {
  name: 'a store with an agent',
  remote: false,
  async start(way = 'here') {
    const place = placeForAgents({}, way);
    const owner = place.with({ COFFER_MASTER_KEY: MASTER_KEY });
    await owner.ok('init');
    await owner.ok('unlock');
    return {
      place: new UnlockedPlace(place.directory, place.environment(), way),
      async stop() {
        await place.ok('lock');
        removePlace(place);
      },
    };
  },
};

export interface Status {
  readonly locked: boolean;
  readonly pid: number;
  readonly uses: number;
  readonly socket: string;
  readonly api: string;
  readonly ssh: string;
  readonly sops: string;
  readonly pkcs11: string;
  readonly idle_until: string;
  readonly until: string;
}

export const KEY = { COFFER_MASTER_KEY: MASTER_KEY };
export const LOCKED = 4;
export const WITHIN = { timeout: 20_000, interval: 50 };

export const statusOf = async (of: Place): Promise<Status> =>
  JSON.parse((await of.run('agent status -o json')).stdout) as Status;
export const isLocked = async (of: Place): Promise<boolean> =>
  (await of.run('agent status -q')).exitCode === LOCKED;

/** Agents that belong to a place, found by what they were started with. */
export function agentsOf({ directory }: Place): readonly { readonly pid: number }[] {
  if (!hasProcessFiles) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const shown = shownOf(pid);
        return shown.includes('agent-process') && shown.includes(directory);
      } catch {
        return false;
      }
    })
    .map((pid) => ({ pid }));
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/** One request over a Unix socket. */
export function over(
  socketPath: string,
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly data: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path, headers }, async (answer) => {
      let text = '';
      for await (const chunk of answer) text += String(chunk);
      resolve({ status: answer.statusCode ?? 0, data: text === '' ? {} : JSON.parse(text) });
    });
    sent.once('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Ends whatever agents a test has left behind, and removes the place. */
export function leave(place: Place): void {
  for (const { pid } of agentsOf(place)) kill(pid, 'SIGKILL');
  removePlace(place);
}

/** A store of which one place knows the key and the other does not. */
async function bareStore(): Promise<{ readonly place: Place; readonly owner: Place }> {
  const place = placeForAgents();
  const owner = place.with(KEY);
  await owner.ok('init');
  return { place, owner };
}

/** Before each test, a store of which one place knows the key and the other does not; after it, neither store nor agent. */
export function freshStores(use: (place: Place, owner: Place) => void): void {
  let place: Place | undefined;
  beforeEach(async () => {
    const made = await bareStore();
    place = made.place;
    use(made.place, made.owner);
  });
  afterEach(() => {
    if (place !== undefined) leave(place);
  });
}

/** The same for all tests of a group, unlocked: an agent takes longer to start than most tests that only ask it. */
export function unlockedStore(
  use: (place: Place, owner: Place) => void,
  prepare: readonly string[] = [],
): void {
  let place: Place | undefined;
  beforeAll(async () => {
    const made = await bareStore();
    place = made.place;
    for (const line of [...prepare, 'unlock']) await made.owner.ok(line);
    use(made.place, made.owner);
  });
  afterAll(() => {
    if (place !== undefined) leave(place);
  });
}
