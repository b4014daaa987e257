import { asCofferError } from '../../ground/errors.ts';
import type { Runner, Table } from '../../operations/declaration/operation.ts';
import { storeStatus } from '../../store/administration/status.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { openUnlocked } from '../runner-local.ts';
import { environmentCredentials } from '../secrets/secret-sources.ts';
import type { Session } from '../session.ts';
import { printResult } from '../terminal/output.ts';

export const command: Command = {
  arguments: [],
  options: [],
  details: 'Never asks for a secret: the store counts as locked when the environment does not unlock it.',
  examples: [
    ['coffer status', 'Where the store is, and what unlocks it'],
    ['coffer status -o json | jq .locked', 'For scripts'],
  ],
  async run(session) {
    const { address } = session.settings;
    const shown = address === undefined ? await localStatus(session) : await serverStatus(session);
    await printResult(session, shown, { table: () => statusTable(shown) });
    return DONE;
  },
};

async function serverStatus(session: Session): Promise<object> {
  const runner = await session.runner();
  const { data } = await runner.run('sys seal-status', {});
  return { address: session.settings.address, ...(data as object) };
}

type LocalStatus = Awaited<ReturnType<typeof localStatus>>;

async function localStatus(session: Session) {
  const status = await storeStatus(session.settings.storeLocation);
  const counts = await countsIfUnlocked(session);
  return {
    directory: status.location,
    format: status.format,
    id: status.id,
    created: status.created,
    locked: counts === undefined,
    slots: status.slots.map(({ id, kind }) => ({ id, kind })),
    ...counts,
    files: status.files,
    generation: status.generation,
    revision: status.revision,
    ...(status.damaged.length === 0 ? {} : { damaged: status.damaged }),
  };
}

/** Undefined when the environment does not unlock the store. */
async function countsIfUnlocked(session: Session) {
  let runner: Runner;
  try {
    runner = await openUnlocked(session, environmentCredentials(session.environment));
  } catch (error) {
    const kind = asCofferError(error)?.kind;
    if (kind === 'sealed' || kind === 'denied') return undefined;
    throw error;
  }
  try {
    return await countsOf(runner);
  } finally {
    runner.close();
  }
}

/** What only an unlocked store tells. */
async function countsOf(runner: Runner) {
  const run = async (path: string, mount?: string): Promise<object> => {
    const { data } = await runner.run(path, {}, mount);
    return data as object;
  };
  const mounts = Object.keys(await run('mounts list'));
  let keys = 0;
  for (const mount of mounts) keys += listLength(await run('transit keys list', mount), 'keys');
  return { mounts: mounts.length, keys, organizations: listLength(await run('orgs list'), 'data') };
}

function listLength(answer: object, member: string): number {
  const list = (answer as Readonly<Record<string, unknown>>)[member];
  return Array.isArray(list) ? list.length : 0;
}

/** One line a fact, in words. */
function statusTable(shown: object): Table {
  const { locked, slots, ...others } = shown as Partial<LocalStatus>;
  const facts: [string, unknown][] = [
    ...(locked === undefined ? [] : [['state', locked ? 'locked' : 'unlocked'] as [string, unknown]]),
    ...(slots === undefined
      ? []
      : [['unlocked by', slots.map(({ kind }) => kind).join(', ')] as [string, unknown]]),
    ...Object.entries(others),
  ];
  return {
    head: ['Field', 'Value'],
    rows: facts.map(([name, value]) => [
      name,
      typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]),
  };
}
