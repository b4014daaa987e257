import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { initStore } from '../../src/store/administration/init.ts';
import type { Tag } from '../../src/tags/tag-pool.ts';
import type { Tags } from '../../src/tags/tags.ts';
import { rounds } from '../long.ts';
import { ATTACHED_IN_CYCLE, KEY, ORGANIZATION, openTags, TAGGINGS, TAGS_IN_CYCLE } from './pool-worker.ts';

const KILLS = rounds(100);
const WORKSPACES = 40;
const everything = { page: { number: 1, size: 1000 } };

const directory = mkdtempSync(join(tmpdir(), 'coffer-tags-'));
const running = new Set<ChildProcess>();

/** In one file, because a hundred starts from the sources would take most of a minute. */
const worker = join(directory, 'worker.mjs');

beforeAll(() => {
  buildSync({
    entryPoints: [fileURLToPath(new URL('./pool-worker.ts', import.meta.url))],
    outfile: worker,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
});

afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

async function newPool(name: string, workspaces: readonly string[]): Promise<{ path: string; tags: Tags }> {
  const path = join(directory, name);
  await initStore({ location: path, slots: [{ kind: 'raw', key: Buffer.from(KEY) }] });
  const tags = await openTags(path);
  await tags.organizations.create({ name: ORGANIZATION, email: null });
  await tags.load(
    ORGANIZATION,
    workspaces.map((workspace) => ({ workspace, tags: [] })),
  );
  return { path, tags };
}

interface Worker {
  readonly child: ChildProcess;
  /** Everything it wrote until now. */
  output(): string;
  /** The exit code, or null once it was killed. */
  readonly ended: Promise<number | null>;
}

function start(...args: readonly string[]): Worker {
  const child = spawn(process.execPath, [worker, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = new Promise<number | null>((resolve) => {
    child.on('close', (code) => {
      running.delete(child);
      resolve(code);
    });
  });
  return { child, output: () => output, ended };
}

/** Kills a worker within the first cycles of changes, and answers how many of them it had acknowledged. */
async function killedAfter(path: string, milliseconds: number): Promise<number> {
  const { child, output, ended } = start(path, 'cycle');
  await new Promise<void>((resolve) => child.stdout?.once('data', () => resolve()));
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  child.kill('SIGKILL');
  expect(await ended).toBeNull();
  return output().replace('ready\n', '').length;
}

/** Fails unless every count is the number of workspaces that list the tag. */
async function checkedCounts(tags: Tags): Promise<readonly Tag[]> {
  const { items } = await tags.pool.list(ORGANIZATION, everything);
  const workspaces = await tags.workspaces.list(ORGANIZATION, everything);
  for (const { name, instances } of items) {
    expect(instances).toBe(workspaces.items.filter(({ tagNames }) => tagNames.includes(name)).length);
  }
  return items;
}

/** Which step of the worker's cycle the pool shows; anything between two steps fails. */
async function stepOf(tags: Tags): Promise<number> {
  const items = await checkedCounts(tags);
  if (items.length === 0) return 0;
  expect(items).toHaveLength(TAGS_IN_CYCLE);
  const attached = items.filter(({ instances }) => instances > 0);
  expect(attached.every(({ instances }) => instances === WORKSPACES)).toBe(true);
  return 1 + attached.length;
}

it(`a process that is killed amid bulk changes, ${KILLS} times, leaves all or nothing of the last one`, async () => {
  const names = Array.from({ length: WORKSPACES }, (_, i) => `w${i}`);
  const { path, tags } = await newPool('killed', names);
  const stepsInCycle = 1 + ATTACHED_IN_CYCLE + 1;
  for (let kill = 0; kill < KILLS; kill++) {
    const acknowledged = await killedAfter(path, (kill * 7) % 60);
    // Whoever writes next finishes or discards what the killed one left.
    await tags.pool.delete(ORGANIZATION, []);
    const step = await stepOf(tags);
    expect([acknowledged % stepsInCycle, (acknowledged + 1) % stepsInCycle]).toContain(step);
    const left = await tags.pool.list(ORGANIZATION, everything);
    await tags.pool.delete(
      ORGANIZATION,
      left.items.map(({ id }) => id),
    );
  }
});

it('a pool of tags loses nothing when processes change it at the same time', async () => {
  const ids = ['0', '1', '2'];
  const { path, tags } = await newPool(
    'shared',
    ids.map((id) => `w${id}`),
  );
  const workers = ids.map((id) => start(path, 'tag', id));
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  const counts = Object.fromEntries(
    (await checkedCounts(tags)).map(({ name, instances }) => [name, instances]),
  );
  const expected: Record<string, number> = {};
  for (let i = 0; i < TAGGINGS; i++) {
    expected[`shared-${i}`] = i === 0 ? 0 : ids.length;
    for (const id of ids) expected[`own-${id}-${i}`] = 1;
  }
  expect(counts).toEqual(expected);
});

it('a tag that a process puts on a workspace stays, however many others are pruning the pool', async () => {
  const { path, tags } = await newPool('pruned', ['w']);
  const names = Array.from({ length: 150 }, (_, i) => ({ name: `t${i}` }));
  const ids = (await tags.pool.create(ORGANIZATION, names)).map(({ id }) => id);
  const { id: workspace = '' } = (await tags.workspaces.list(ORGANIZATION, everything)).items[0] ?? {};
  const taking = start(path, 'take', workspace, ...ids);
  await new Promise<void>((resolve) => taking.child.stdout?.once('data', () => resolve()));
  const pruning = [0, 1].map(() => start(path, 'prune', '', ...ids));
  const workers = [taking, ...pruning];
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  const acknowledged = workers.map(({ output }) => output().trim().split('\n').slice(1));
  const taken = acknowledged[0] ?? [];
  const left = await checkedCounts(tags);
  expect(left.map(({ id }) => id).sort()).toEqual(taken.toSorted());
  expect(left.every(({ instances }) => instances === 1)).toBe(true);
  expect(acknowledged.flat().sort()).toEqual(ids.toSorted());
});
