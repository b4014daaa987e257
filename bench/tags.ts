/** A large organization's tag pool against one of 100 tags: costs that grow with the pool, and those that must not. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../src/ground/clock.ts';
import { systemRandom } from '../src/ground/random.ts';
import { type Coffer, openStore as openCoffer } from '../src/library.ts';
import { initStore } from '../src/store/administration/init.ts';
import { openStore } from '../src/store/open.ts';
import { type LoadEntry, Tags } from '../src/tags/tags.ts';
import { compareLoops, comparePrograms, type Measured, median, type Program, type Row } from './measure.ts';

const ORGANIZATION = 'acme';
const TAGS_ON_EACH = 50;
const SMALL = { tags: 100, workspaces: 10 };
const LARGE = { tags: 100_000, workspaces: 10_000 };
const FLOOR = `the same with ${SMALL.tags} tags`;

const command = fileURLToPath(new URL('../bin/coffer', import.meta.url));
const bundle = fileURLToPath(new URL('../dist/coffer.cjs', import.meta.url));

export async function run(): Promise<readonly Row[]> {
  if (!existsSync(bundle)) throw new Error('dist/coffer.cjs is missing: run "npm run build" first');
  const directory = mkdtempSync(join(tmpdir(), 'coffer-bench-'));
  try {
    const small = await loadPool(join(directory, 'small'), SMALL);
    const large = await loadPool(join(directory, 'large'), LARGE);
    const rows = [...(await inProcess(large, small)), ...asCommand(large, small)];
    return [loadRow(large, small), ...rows];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function loadRow(large: Pool, small: Pool): Row {
  const [ours, floor] = [large.msPerThousand, small.msPerThousand];
  const attachments = (LARGE.workspaces * TAGS_ON_EACH).toLocaleString('en');
  return {
    operation: `load, per 1,000 of ${attachments} attachments`,
    floorName: FLOOR,
    limit: 3,
    ours,
    floor,
    ratio: ours / floor,
  };
}

async function inProcess(large: Pool, small: Pool): Promise<Row[]> {
  await openEverything(large);
  await openEverything(small);
  const row = (operation: string, measured: Measured, limit = 3): Row => ({
    operation: `${operation}, ${LARGE.tags.toLocaleString('en')} tags`,
    floorName: FLOOR,
    limit,
    ...measured,
  });
  return [
    row('attach by id', await comparePairs(attaching(large), attaching(small))),
    row('delete by id', await comparePairs(deleting(large), deleting(small))),
    row('first page', await compareLoops(searching(large, ['']), searching(small, ['']))),
    row('first page with q', await compareLoops(searching(large, ['env-1']), searching(small, ['env-1']))),
    // About 10 µs in the index, and a document no longer in the processor's cache, against almost nothing.
    row(
      'first page with a q not asked before',
      await compareLoops(await searchingAnew(large), await searchingAnew(small)),
      5,
    ),
  ];
}

function asCommand(large: Pool, small: Pool): Row[] {
  const row = (operation: string, ...words: readonly string[]): Row => ({
    operation: `${operation}, ${LARGE.tags.toLocaleString('en')} tags`,
    floorName: FLOOR,
    limit: 10,
    ...comparePrograms(program(large, words), program(small, words), 21),
  });
  return [
    row('command: tags list', 'tags', 'list'),
    row('command: tags list QUERY', 'tags', 'list', 'env-1'),
  ];
}

const tagName = (i: number, tags: number): string => `team-${(i * 7919) % tags}:env-${i % 17}`;

function* entries({ tags, workspaces }: typeof SMALL): Generator<LoadEntry> {
  for (let i = 0; i < tags; i++) yield { tag: tagName(i, tags) };
  for (let w = 0; w < workspaces; w++) {
    const first = w * TAGS_ON_EACH;
    yield {
      workspace: `ws-${w}`,
      tags: Array.from({ length: TAGS_ON_EACH }, (_, j) => tagName((first + j * 13) % tags, tags)),
    };
  }
}

/** Timed call, in milliseconds, without the time for preparation and cleanup. */
type Timed = () => Promise<number>;

async function comparePairs(ours: Timed, floor: Timed, pairs = 61): Promise<Measured> {
  for (let warmUp = 0; warmUp < 5; warmUp++) await Promise.all([await ours(), await floor()]);
  const times: (readonly [number, number])[] = [];
  for (let i = 0; i < pairs; i++) times.push([await ours(), await floor()]);
  return {
    ours: median(times.map(([time]) => time)),
    floor: median(times.map(([, time]) => time)),
    ratio: median(times.map(([time, floorTime]) => time / floorTime)),
  };
}

async function timed(work: Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work;
  return performance.now() - started;
}

interface Pool {
  readonly size: typeof SMALL;
  readonly directory: string;
  readonly masterKey: string;
  readonly coffer: Coffer;
  readonly msPerThousand: number;
  /** IDs of up to a hundred tags and workspaces. */
  readonly tagIds: readonly string[];
  readonly workspaceIds: readonly string[];
}

async function loadPool(directory: string, size: typeof SMALL): Promise<Pool> {
  const key = systemRandom.bytes(32);
  const masterKey = key.toString('base64');
  await initStore({ location: directory, slots: [{ kind: 'raw', key }] });
  const coffer = await openCoffer({ location: directory, masterKey });
  await coffer.orgs.create({ name: ORGANIZATION });
  const msPerThousand = await load(directory, masterKey, size);
  const { data: tags } = await coffer.tags.list({ organization_name: ORGANIZATION, 'page[size]': 100 });
  const { data: workspaces } = await coffer.workspaces.list({
    organization_name: ORGANIZATION,
    'page[size]': 100,
  });
  const tagIds = tags.map(({ id }) => id);
  const workspaceIds = workspaces.map(({ id }) => id);
  return { size, directory, masterKey, coffer, msPerThousand, tagIds, workspaceIds };
}

/**
 * Creates the pool.
 * @returns milliseconds for a thousand attachments
 */
async function load(directory: string, masterKey: string, size: typeof SMALL): Promise<number> {
  const store = await openStore({
    location: directory,
    credentials: [{ kind: 'raw', source: 'the key', reveal: () => Buffer.from(masterKey, 'base64') }],
  });
  const tags = new Tags({ store, clock: systemClock, random: systemRandom });
  const started = performance.now();
  const { attachments } = await tags.load(ORGANIZATION, entries(size));
  const elapsed = performance.now() - started;
  store.close();
  return (elapsed * 1000) / attachments;
}

/** Opens every document, as in a process that has been running for a while. */
async function openEverything({ coffer, size }: Pool): Promise<void> {
  for (let number = 1; number * 100 <= size.tags; number++) {
    await coffer.tags.list({ organization_name: ORGANIZATION, 'page[number]': number, 'page[size]': 100 });
  }
}

/** Attaches another tag to another workspace each time, which does not have it yet. */
function attaching({ coffer, tagIds, workspaceIds }: Pool): Timed {
  let i = 0;
  return async () => {
    const data = [workspaceIds[i % workspaceIds.length] ?? ''];
    const tag_id = tagIds[i++ % tagIds.length] ?? '';
    await coffer.tags.detach({ tag_id, data });
    return timed(coffer.tags.attach({ tag_id, data }));
  };
}

function deleting({ coffer }: Pool): Timed {
  const organization_name = ORGANIZATION;
  let i = 0;
  return async () => {
    const { data } = await coffer.tags.create({ organization_name, data: [{ name: `short-lived-${i++}` }] });
    return timed(coffer.tags.delete({ organization_name, data: data.map(({ id }) => id) }));
  };
}

function searching({ coffer }: Pool, queries: readonly string[]): () => Promise<unknown> {
  let i = 0;
  return () => coffer.tags.list({ organization_name: ORGANIZATION, q: queries[i++ % queries.length] ?? '' });
}

/** Searches for texts that each match one or a few tags, in a process that has an index after so many searches. */
async function searchingAnew(pool: Pool): Promise<() => Promise<unknown>> {
  const { tags } = pool.size;
  const search = searching(
    pool,
    Array.from({ length: tags }, (_, i) => `m-${(i * 101) % tags}:`),
  );
  for (let i = 0; i < 1000; i++) await search();
  return search;
}

const program = ({ directory, masterKey }: Pool, words: readonly string[]): Program => ({
  command: [process.execPath, command, ...words, '--org', ORGANIZATION],
  env: { PATH: process.env['PATH'], COFFER_STORE: directory, COFFER_MASTER_KEY: masterKey },
});
