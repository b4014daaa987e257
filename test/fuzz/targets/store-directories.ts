import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { examineStore, repairStore } from '../../../src/store/administration/repair.ts';
import { storeStatus } from '../../../src/store/administration/status.ts';
import { FilesBackend } from '../../../src/store/backends/files/files-backend.ts';
import { createAt } from '../../../src/store/backends/registry.ts';
import { parseChecked, printChecked } from '../../../src/store/checked-json.ts';
import { openBackend } from '../../../src/store/open.ts';
import type { Chance } from '../../chance.ts';
import { anyText, spoiledBytes } from '../mutation.ts';
import { type Credentials, fillSample, readAll, sampleContent } from '../sample-store.ts';
import type { Secrets } from '../secrets.ts';
import { Defect, target, type World } from '../target.ts';
import { spoiledDeeply } from '../values.ts';

/** What is done to the files of a store behind its back. */
type Deed =
  | { readonly kind: 'write'; readonly path: string; readonly bytes: Buffer }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'move'; readonly path: string; readonly to: string };

interface Meddling {
  readonly deeds: readonly Deed[];
  /** Somebody writes afterwards: what is unfinished is finished or given up. */
  readonly writes: boolean;
}

/** States of a store with a log, and of format 1: settled, and in the middle of a commit. */
const STATES = [
  'log-1-1',
  'log-1-0',
  'log-2-1',
  'log-1-999999999999999',
  'log-01-1',
  'clean-1-1',
  'dirty-1-1',
  'clean-2-1',
  'dirty-1-9',
  'clean-1-999999999999999',
  'clean-01-1',
  'clean-1-',
  'x',
];

async function open(_chance: Chance, secrets: Secrets): Promise<World<Meddling>> {
  const place = mkdtempSync(join(tmpdir(), 'coffer-fuzz-directory-'));
  const template = join(place, 'template');
  const directory = join(place, 'store');
  const { content, credentials } = await sampleContent(secrets, false);
  await createAt(template, content);
  const store = await openBackend(new FilesBackend(template), credentials.key);
  await fillSample(store, secrets);
  store.close();
  const paths = readdirSync(template, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'lock')
    .map((entry) => join(entry.parentPath, entry.name).slice(template.length + 1));
  const files = new Map(paths.map((path) => [path, readFileSync(join(template, path))]));
  writeFileSync(join(place, 'bystander'), 'untouched');
  return {
    generate: (chance) => generate(chance, files),
    async check(meddling) {
      rmSync(directory, { recursive: true, force: true });
      cpSync(template, directory, { recursive: true });
      for (const deed of meddling.deeds) perform(directory, deed);
      await checkStore(directory, meddling, credentials, secrets);
      await checkRepair(directory, credentials, secrets);
      if (readdirSync(place).sort().join() !== 'bystander,store,template') {
        throw new Defect(`beside the store there is ${readdirSync(place).join(', ')}`);
      }
    },
    print: ({ deeds, writes }) => `${writes} ${deeds.map(printDeed).join('; ')}`,
    *simpler({ deeds, writes }) {
      for (const deed of deeds) yield { deeds: deeds.filter((other) => other !== deed), writes };
    },
    close: () => rmSync(place, { recursive: true, force: true }),
  };
}

const printDeed = (deed: Deed): string =>
  deed.kind === 'write'
    ? `write ${deed.path} ${deed.bytes.toString('hex')}`
    : `${deed.kind} ${deed.path} ${deed.kind === 'move' ? deed.to : ''}`;

type Files = ReadonlyMap<string, Buffer>;

function generate(chance: Chance, files: Files): Meddling {
  const deeds = Array.from({ length: 1 + chance.size(2) }, () => deed(chance, files));
  return { deeds: chance.oneIn(2) ? unfinishedCommit(chance, files) : deeds, writes: chance.oneIn(3) };
}

function deed(chance: Chance, files: Files): Deed {
  const paths = [...files.keys()];
  const path = chance.pick(paths);
  const state = `state/${chance.oneIn(8) ? anyText(chance).replaceAll(/[/\0]/g, '').slice(0, 100) || 'x' : chance.pick(STATES)}`;
  switch (chance.below(8)) {
    case 0:
      return { kind: 'delete', path };
    case 1:
      return { kind: 'move', path, to: chance.oneIn(2) ? state : chance.pick(paths) };
    case 2:
      return { kind: 'write', path: state, bytes: chance.bytes(chance.size(4)) };
    case 3:
      return {
        kind: 'write',
        path: `${dirname(path)}/${chance.pick(['junk', 'ab', 'ab.json', 'blob.new'])}`,
        bytes: chance.bytes(40),
      };
    default:
      return {
        kind: 'write',
        path,
        bytes: spoiledBytes(chance, files.get(path) ?? Buffer.alloc(0), [...files.values()]),
      };
  }
}

/** A journal with a right checksum, whatever it says, where a killed process would have left it. */
function unfinishedCommit(chance: Chance, files: Files): Deed[] {
  const names = [...files.keys()]
    .filter((path) => path.includes('documents/'))
    .map((path) => path.split('/').at(-1));
  const changes = Array.from({ length: 1 + chance.size(3) }, () => ({
    area: chance.pick(['documents', 'slots', 'documents/../..']),
    name: chance.oneIn(3)
      ? chance.pick(['../../../bystander', '../../../bystander', 'ff', '', anyText(chance)])
      : chance.pick(names),
    sha256: chance.oneIn(2) ? null : chance.bytes(32).toString('hex'),
  }));
  const journal = { format: 1, generation: 1, revision: chance.pick([1, 1, 1, 0, 2]), changes };
  const body = chance.oneIn(3) ? spoiledDeeply(chance, journal) : journal;
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  const printed = printChecked({ ...(isObject ? JSON.parse(JSON.stringify(body, printBig)) : {}), more: 1 });
  const bytes = chance.oneIn(8) ? spoiledBytes(chance, printed) : printed;
  return [
    { kind: 'move', path: 'state/log-1-1', to: 'state/dirty-1-1' },
    { kind: 'write', path: 'state/commit/journal', bytes },
  ];
}

const printBig = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? Number(value) : value;

function perform(directory: string, deed: Deed): void {
  const path = join(directory, deed.path);
  try {
    if (deed.kind === 'delete') rmSync(path, { force: true });
    else if (deed.kind === 'move') renameSync(path, join(directory, deed.to));
    else {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, deed.bytes, { mode: 0o600 });
    }
  } catch {
    // An earlier deed has taken away what this one is about, or the name is none: then it is not done.
  }
}

async function checkStore(
  directory: string,
  { deeds, writes }: Meddling,
  credentials: Credentials,
  secrets: Secrets,
): Promise<void> {
  // A commit that was decided is carried out, so what is read afterwards may lack what its journal deletes.
  const isDecided = deeds.some(
    ({ path, kind }) => kind === 'write' && path === 'state/commit/journal' && isJournal(deeds),
  );
  await secrets.outcome(() => storeStatus(directory));
  await secrets.outcome(() => examineStore({ location: directory, credentials: credentials.key }));
  const opened = await secrets.outcome(() => openBackend(new FilesBackend(directory), credentials.key));
  if ('refused' in opened) return;
  const store = opened.value;
  try {
    if (!isDecided) await readAll(store, secrets);
    if (!writes) return;
    const written = await secrets.outcome(() =>
      store.transact((tx) => tx.put({ collection: 'things', id: 'new' }, { n: 1 })),
    );
    if ('refused' in written) return;
    const read = await store.read((view) => view.get<{ n: number }>({ collection: 'things', id: 'new' }));
    if (read?.n !== 1) throw new Defect('what was written is not there');
  } finally {
    store.close();
  }
}

/** Whatever was done: a repair says what is lost, or else everything is read and written again. */
async function checkRepair(directory: string, credentials: Credentials, secrets: Secrets): Promise<void> {
  const options = { location: directory, credentials: credentials.key };
  const repaired = await secrets.outcome(() => repairStore(options));
  if ('refused' in repaired || repaired.value.examination.findings.length > 0) return;
  const store = await openBackend(new FilesBackend(directory), credentials.key);
  try {
    for (const id of await store.read((view) => view.list('things')))
      await store.read((view) => view.get({ collection: 'things', id }));
    // There is no revision after this one.
    if ((await store.revision()).endsWith('-999999999999999')) return;
    await store.transact((tx) => tx.put({ collection: 'things', id: 'repaired' }, { n: 1 }));
  } finally {
    store.close();
  }
  const { findings } = await examineStore(options);
  if (findings.length > 0) throw new Defect(`a repaired store has ${findings[0]?.reason}`);
}

const isJournal = (deeds: readonly Deed[]): boolean =>
  deeds.some((deed) => deed.kind === 'write' && parseChecked(deed.bytes) !== undefined);

export const storeDirectories = target<Meddling>({ name: 'store-directories', cases: 300, open });
