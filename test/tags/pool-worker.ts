/** A process of its own that changes a pool, for tests that kill it or run several: `pool-worker.ts DIRECTORY WORK ID`. */
import { systemClock } from '../../src/ground/clock.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { openStore } from '../../src/store/open.ts';
import { Tags } from '../../src/tags/tags.ts';

export const KEY = Buffer.alloc(32, 7);
export const ORGANIZATION = 'acme';
/** What the cycle of changes goes through; each step is one line of output once it is acknowledged. */
export const TAGS_IN_CYCLE = 10;
export const ATTACHED_IN_CYCLE = 3;
export const TAGGINGS = 25;
const PRUNED_AT_ONCE = 10;

export async function openTags(directory: string): Promise<Tags> {
  const store = await openStore({
    location: directory,
    credentials: [{ kind: 'raw', source: 'the key of the test', reveal: () => Buffer.from(KEY) }],
  });
  return new Tags({ store, clock: systemClock, random: systemRandom });
}

const everything = { page: { number: 1, size: 100 } };
const acknowledge = (): boolean => process.stdout.write('.');

/** Creates tags, attaches some of them to every workspace, one bulk call each, deletes them all at once, and again. */
async function cycle(tags: Tags): Promise<never> {
  const workspaces = (await tags.workspaces.list(ORGANIZATION, everything)).items.map(({ id }) => id);
  process.stdout.write('ready\n');
  for (;;) {
    const names = Array.from({ length: TAGS_IN_CYCLE }, (_, i) => ({ name: `t${i}` }));
    const ids = (await tags.pool.create(ORGANIZATION, names)).map(({ id }) => id);
    acknowledge();
    for (const id of ids.slice(0, ATTACHED_IN_CYCLE)) {
      await tags.pool.attach(id, workspaces);
      acknowledge();
    }
    await tags.pool.delete(ORGANIZATION, ids);
    acknowledge();
  }
}

/** Tags one workspace with names of its own and with names that other workers use at the same time. */
async function tagOne(tags: Tags, id: string): Promise<void> {
  const workspace = { organization: ORGANIZATION, name: `w${id}` };
  for (let i = 0; i < TAGGINGS; i++) {
    await tags.workspaces.tag(workspace, [{ name: `own-${id}-${i}` }, { name: `shared-${i}` }]);
  }
  await tags.workspaces.untag(workspace, [{ name: 'shared-0' }]);
}

/** Puts each tag on the workspace, and acknowledges the identifier of each that was still there. */
async function take(tags: Tags, workspace: string, ids: readonly string[]): Promise<void> {
  process.stdout.write('ready\n');
  for (const id of ids) {
    const isThere = await tags.pool.attach(id, [workspace]).then(
      () => true,
      () => false,
    );
    if (isThere) process.stdout.write(`${id}\n`);
  }
}

/** Deletes those that nobody has taken, one half and then the other, and acknowledges what went. */
async function prune(tags: Tags, ids: readonly string[]): Promise<void> {
  process.stdout.write('ready\n');
  for (let start = ids.length; start > 0; start -= PRUNED_AT_ONCE) {
    const part = ids.slice(Math.max(0, start - PRUNED_AT_ONCE), start);
    for (const { id } of await tags.pool.deleteUnused(ORGANIZATION, part)) process.stdout.write(`${id}\n`);
  }
}

if (process.argv[1] === import.meta.filename) {
  const [, , directory = '', work, id = '', ...ids] = process.argv;
  const tags = await openTags(directory);
  if (work === 'cycle') await cycle(tags);
  else if (work === 'take') await take(tags, id, ids);
  else if (work === 'prune') await prune(tags, ids);
  else await tagOne(tags, id);
}
