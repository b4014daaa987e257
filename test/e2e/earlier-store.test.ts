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

const lines = (command: string): string[] => place.ok(command).split('\n').sort();
const countsOf = (): Record<string, number> =>
  Object.fromEntries(
    (
      place.json('tags list') as { data: { attributes: { name: string; 'instance-count': number } }[] }
    ).data.map(({ attributes }) => [attributes.name, attributes['instance-count']]),
  );

describe('a store of an earlier release', () => {
  it('has all that it had, and nothing of what came later', () => {
    expect(place.ok(['transit', 'decrypt', 'orders', earlier.ciphertext])).toBe('kept for years');
    expect(lines('orgs list')).toEqual(['acme', 'empty']);
    expect(lines('workspaces list')).toEqual(['billing', 'plain', 'web']);
    expect(countsOf()).toEqual({ 'env:prod': 2, 'team:core': 1, unused: 0 });
    expect(lines('tags of web')).toEqual(['env:prod']);
    expect(lines('projects list')).toEqual(['Default Project']);
    for (const organization of ['acme', 'empty']) {
      expect(place.ok(`tags reserved list --org ${organization}`)).toBe('');
    }
    expect(place.ok('workspaces bindings billing')).toBe('');
    expect(place.ok('workspaces effective billing')).toBe('');
    expect(place.json('workspaces show billing')).toMatchObject({
      data: { attributes: { 'execution-mode': 'remote', 'tag-names': ['env:prod', 'team:core'] } },
    });
    expect(place.run('doctor').exitCode).toBe(0);
  });

  it('takes projects, KEY=VALUE tags and reserved keys, and searches by them beside what it had', () => {
    place.ok('projects create platform --bind zone=eu');
    place.ok('workspaces update billing --project platform');
    place.ok('workspaces bind billing env=dev');
    place.ok('workspaces bind web zone=us');
    place.ok('tags reserved create zone --disable-overrides');
    expect(lines('workspaces effective billing')).toEqual(['env=dev', 'zone=eu']);
    expect(lines('workspaces list --bound zone')).toEqual(['billing', 'web']);
    expect(lines('workspaces list --tag env:prod --bound zone=eu')).toEqual(['billing']);
    expect(lines('workspaces list --project platform')).toEqual(['billing']);
    expect(place.ok(['workspaces', 'list', '--project', 'Default Project']).split('\n')).toEqual([
      'plain',
      'web',
    ]);
    expect(place.run('projects delete platform --yes').exitCode).not.toBe(0);
    expect(countsOf()).toEqual({ 'env:prod': 2, 'team:core': 1, unused: 0 });
    expect(place.run('doctor').exitCode).toBe(0);
  });

  it('renames, prunes and exports the tags that it had', () => {
    place.ok('tags rename env:prod env:production');
    place.ok('tags prune --unused --yes');
    expect(countsOf()).toEqual({ 'env:production': 2, 'team:core': 1 });
    expect(place.ok('tags export --format csv')).toBe(
      'workspace,tag\n,env:production\n,team:core\nbilling,env:production\nbilling,team:core\nplain,\nweb,env:production',
    );
    place.ok('orgs delete empty --yes');
    place.ok('workspaces delete web --yes');
    expect(countsOf()).toEqual({ 'env:production': 1, 'team:core': 1 });
    expect(place.run('doctor').exitCode).toBe(0);
  });
});
