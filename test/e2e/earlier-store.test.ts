import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

/** A store as it was before there were projects and KEY=VALUE tags. */
const earlier = JSON.parse(
  readFileSync(new URL('../vectors/earlier-store.json', import.meta.url), 'utf8'),
) as { readonly ciphertext: string; readonly files: Readonly<Record<string, string>> };

const places: Place[] = [];
let place: Place;

beforeEach(() => {
  place = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY, COFFER_ORG: 'acme' });
  places.push(place);
  for (const [path, content] of Object.entries(earlier.files)) {
    const file = place.file(`store/${path}`);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, Buffer.from(content, 'base64'), { mode: 0o600 });
  }
});

afterAll(() => places.forEach(removePlace));

const lines = async (command: string): Promise<string[]> => (await place.ok(command)).split('\n').sort();
const countsOf = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    (
      (await place.json('tags list')) as {
        data: { attributes: { name: string; 'instance-count': number } }[];
      }
    ).data.map(({ attributes }) => [attributes.name, attributes['instance-count']]),
  );

describe('a store of an earlier release', () => {
  it('has all that it had, and nothing of what came later', async () => {
    expect(await place.ok(['transit', 'decrypt', 'orders', earlier.ciphertext])).toBe('kept for years');
    expect(await lines('orgs list')).toEqual(['acme', 'empty']);
    expect(await lines('workspaces list')).toEqual(['billing', 'plain', 'web']);
    expect(await countsOf()).toEqual({ 'env:prod': 2, 'team:core': 1, unused: 0 });
    expect(await lines('tags of web')).toEqual(['env:prod']);
    expect(await lines('projects list')).toEqual(['Default Project']);
    for (const organization of ['acme', 'empty']) {
      expect(await place.ok(`tags reserved list --org ${organization}`)).toBe('');
    }
    expect(await place.ok('workspaces bindings billing')).toBe('');
    expect(await place.ok('workspaces effective billing')).toBe('');
    expect(await place.json('workspaces show billing')).toMatchObject({
      data: { attributes: { 'execution-mode': 'remote', 'tag-names': ['env:prod', 'team:core'] } },
    });
    expect((await place.run('doctor')).exitCode).toBe(0);
  });

  it('takes projects, KEY=VALUE tags and reserved keys, and searches by them beside what it had', async () => {
    await place.ok('projects create platform --bind zone=eu');
    await place.ok('workspaces update billing --project platform');
    await place.ok('workspaces bind billing env=dev');
    await place.ok('workspaces bind web zone=us');
    await place.ok('tags reserved create zone --disable-overrides');
    expect(await lines('workspaces effective billing')).toEqual(['env=dev', 'zone=eu']);
    expect(await lines('workspaces list --bound zone')).toEqual(['billing', 'web']);
    expect(await lines('workspaces list --tag env:prod --bound zone=eu')).toEqual(['billing']);
    expect(await lines('workspaces list --project platform')).toEqual(['billing']);
    expect((await place.ok(['workspaces', 'list', '--project', 'Default Project'])).split('\n')).toEqual([
      'plain',
      'web',
    ]);
    expect((await place.run('projects delete platform --yes')).exitCode).not.toBe(0);
    expect(await countsOf()).toEqual({ 'env:prod': 2, 'team:core': 1, unused: 0 });
    expect((await place.run('doctor')).exitCode).toBe(0);
  });

  it('renames, prunes and exports the tags that it had', async () => {
    await place.ok('tags rename env:prod env:production');
    await place.ok('tags prune --unused --yes');
    expect(await countsOf()).toEqual({ 'env:production': 2, 'team:core': 1 });
    expect(await place.ok('tags export --format csv')).toBe(
      'workspace,tag\n,env:production\n,team:core\nbilling,env:production\nbilling,team:core\nplain,\nweb,env:production',
    );
    await place.ok('orgs delete empty --yes');
    await place.ok('workspaces delete web --yes');
    expect(await countsOf()).toEqual({ 'env:production': 1, 'team:core': 1 });
    expect((await place.run('doctor')).exitCode).toBe(0);
  });
});
