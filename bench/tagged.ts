/**
 * Workspaces by their KEY=VALUE tags: 10,000 of them against 100, in processor time, which other load does not change.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/ground/clock.ts';
import { systemRandom } from '../src/ground/random.ts';
import { type Coffer, openStore as openCoffer } from '../src/library.ts';
import { initStore } from '../src/store/administration/init.ts';
import { openStore } from '../src/store/open.ts';
import { organizationCalled } from '../src/tags/organization.ts';
import { OrganizationEdit } from '../src/tags/organization-edit.ts';
import { median, type Row } from './measure.ts';

const ORGANIZATION = 'acme';
const KEYS = ['env', 'team', 'zone', 'tier', 'cost'];
/** Number of values, low enough that a page is full with the small number as well. */
const VALUES = 5;
const SMALL = 100;
const LARGE = 10_000;
const ROUNDS = 61;
const WARM_UP = 10;

export async function run(): Promise<readonly Row[]> {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-bench-'));
  try {
    const small = await loaded(join(directory, 'small'), SMALL);
    const large = await loaded(join(directory, 'large'), LARGE);
    const row = async (
      operation: string,
      limit: number,
      change: (coffer: Coffer, at: number) => Promise<void>,
    ) => {
      const [ours, floor] = [await askedAfter(large, change), await askedAfter(small, change)];
      const floorName = `the same with ${SMALL} workspaces`;
      return {
        operation: `filter[tagged], ${operation}`,
        floorName,
        limit,
        ours,
        floor,
        ratio: ours / floor,
      };
    };
    const rows = [
      await row('the same question again', 3, async () => {}),
      // Each slice is checked, and each workspace in the shortest list: about 2 ms, which equals the cost of an HTTP
      // request.
      await row('after a change of another one', 10, changed),
    ];
    small.close();
    large.close();
    return rows;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const value = (workspace: number, key: number): string => `v${(workspace * 7 + key) % VALUES}`;

async function loaded(location: string, workspaces: number): Promise<Coffer> {
  const key = systemRandom.bytes(32);
  const masterKey = key.toString('base64');
  await initStore({ location, slots: [{ kind: 'raw', key }] });
  const coffer = await openCoffer({ location, masterKey });
  await coffer.orgs.create({ name: ORGANIZATION });
  await load(location, masterKey, workspaces);
  return coffer;
}

/** Creates the workspaces in one transaction: one by one would take minutes, mostly for the disk. */
async function load(location: string, masterKey: string, workspaces: number): Promise<void> {
  const reveal = () => Buffer.from(masterKey, 'base64');
  const store = await openStore({ location, credentials: [{ kind: 'raw', source: 'the key', reveal }] });
  await store.transact(async (tx) => {
    const organization = await organizationCalled(tx, ORGANIZATION);
    const edit = await OrganizationEdit.open(tx, organization, {
      store,
      clock: systemClock,
      random: systemRandom,
    });
    for (let workspace = 0; workspace < workspaces; workspace++) {
      const bindings = KEYS.map((name, at) => ({ key: name, value: value(workspace, at), createdAt: 0 }));
      await edit.addWorkspace(`w${workspace}`, { description: null, bindings }, undefined);
    }
    await edit.save();
  });
  store.close();
}

const changed = async (coffer: Coffer, at: number): Promise<void> => {
  const { data } = await coffer.workspaces.show({
    organization_name: ORGANIZATION,
    workspace_name: `w${at % SMALL}`,
  });
  await coffer.workspaces.bind({ workspace_id: data.id, data: [{ key: 'env', value: `v${at % VALUES}` }] });
};

/** Returns the median processor time for the first page, in milliseconds. */
async function askedAfter(
  coffer: Coffer,
  change: (coffer: Coffer, at: number) => Promise<void>,
): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    await change(coffer, round);
    const before = process.cpuUsage();
    await coffer.workspaces.list({
      organization_name: ORGANIZATION,
      'filter[tagged]': [{ key: 'team', value: 'v1' }],
    });
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
  return median(times.slice(WARM_UP));
}
