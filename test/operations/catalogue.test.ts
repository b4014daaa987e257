import { beforeAll, describe, expect, it } from 'vitest';
import { catalogue } from '../../src/operations/catalogue.ts';
import { type CatalogueBranch, type CatalogueEntry, isEntry } from '../../src/operations/catalogue-entry.ts';
import type { Operation } from '../../src/operations/declaration/operation.ts';
import { flagOf } from '../../src/operations/declaration/params.ts';
import { MOUNT_TYPES } from '../../src/operations/mount-types.ts';

/** The command lines that scripts and documentation rely on; adding is free, renaming is not. */
const CONTRACT = [
  'transit keys create',
  'transit keys read',
  'transit keys list',
  'transit keys config',
  'transit keys rotate',
  'transit keys trim',
  'transit keys delete',
  'transit keys export',
  'transit encrypt',
  'transit decrypt',
  'transit rewrap',
  'transit datakey',
  'transit random',
  'transit hash',
  'transit hmac',
  'transit sign',
  'transit verify',
  'transit backup',
  'transit restore',
  'transit cache-config',
  'orgs create',
  'orgs list',
  'orgs delete',
  'workspaces create',
  'workspaces list',
  'workspaces delete',
  'tags create',
  'tags list',
  'tags delete',
  'tags attach',
  'tags detach',
  'tags of',
  'token create',
  'token list',
  'token lookup',
  'token renew',
  'token revoke',
  'policy list',
  'policy read',
  'policy write',
  'policy delete',
  'mounts list',
  'mounts add',
  'mounts remove',
];

interface Named {
  readonly path: string;
  readonly entry: CatalogueEntry<Operation>;
  readonly declaration: Operation;
}

const leaves = (
  branch: CatalogueBranch,
  words: readonly string[] = [],
): { path: string; entry: CatalogueEntry<Operation> }[] =>
  Object.entries(branch).flatMap(([word, node]) =>
    isEntry(node) ? [{ path: [...words, word].join(' '), entry: node }] : leaves(node, [...words, word]),
  );

let operations: readonly Named[] = [];

beforeAll(async () => {
  operations = await Promise.all(
    leaves(catalogue).map(async (leaf) => ({ ...leaf, declaration: (await leaf.entry.load()).declaration })),
  );
});

const routesOf = (declaration: Operation): readonly string[] =>
  typeof declaration.route === 'string' ? [declaration.route] : declaration.route;

describe('the catalogue', () => {
  it('has every command that is promised', () => {
    const commands = new Set(operations.filter(({ entry }) => entry.command).map(({ path }) => path));
    expect(CONTRACT.filter((command) => !commands.has(command))).toEqual([]);
  });

  it('names every segment of a path as a parameter', () => {
    const wrong = operations.flatMap(({ path, declaration }) =>
      routesOf(declaration)
        .flatMap((route) => [...route.matchAll(/:(\w+)/g)].map((match) => match[1] ?? ''))
        .filter((segment) => !Object.hasOwn(declaration.params, segment))
        .map((segment) => `${path}: ${segment}`),
    );
    expect(wrong).toEqual([]);
  });

  it('has paths below mounts only for types that there are', () => {
    const types = new Set<string | undefined>(MOUNT_TYPES.map(({ name }) => name));
    const wrong = operations.filter(
      ({ declaration }) =>
        !types.has(declaration.mount) &&
        (declaration.mount !== undefined || routesOf(declaration).some((route) => !route.includes(' /'))),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('answers each method and path in one place', () => {
    const seen = new Map<string, string>();
    const twice: string[] = [];
    for (const { path, declaration } of operations) {
      for (const route of routesOf(declaration)) {
        const place = route.includes(' /') ? declaration.api : declaration.mount;
        const key = `${place} ${route.replace(/:\w+/g, ':x')}`;
        const other = seen.get(key);
        if (other !== undefined) twice.push(`${key}: ${other} and ${path}`);
        seen.set(key, path);
      }
    }
    expect(twice).toEqual([]);
  });

  it('gives no command two parameters with one flag', () => {
    const wrong = operations.flatMap(({ path, declaration }) => {
      const flags = Object.entries(declaration.params)
        .filter(([, param]) => !param.cli.hidden && !param.cli.positional)
        .map(([name, param]) => flagOf(name, param));
      return flags.filter((flag, index) => flags.indexOf(flag) !== index).map((flag) => `${path}: --${flag}`);
    });
    expect(wrong).toEqual([]);
  });

  it('declares how a terminal shows what a command shows, so that no one reads names of the API', () => {
    const wrong = operations.filter(({ entry, declaration: { cli = {} } }) => {
      const { table, forTerminal, result, details } = cli;
      return (
        entry.command && entry.summary.startsWith('Show') && !(table ?? forTerminal ?? result ?? details)
      );
    });
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('describes every operation and every parameter in a sentence', () => {
    const wrong = operations.flatMap(({ path, entry, declaration }) => [
      ...(entry.summary.length < 8 || entry.summary.endsWith('.') ? [`${path}: ${entry.summary}`] : []),
      ...Object.entries(declaration.params)
        .filter(([, param]) => !/^[A-Z0-9`"].*[.)]$/s.test(param.help))
        .map(([name, param]) => `${path} ${name}: ${param.help}`),
    ]);
    expect(wrong).toEqual([]);
  });

  it('reads the input of a command from a parameter that is there', () => {
    const wrong = operations
      .filter(({ declaration }) => declaration.cli?.input !== undefined)
      .filter(({ declaration }) => !Object.hasOwn(declaration.params, declaration.cli?.input?.param ?? ''))
      .map(({ path }) => path);
    expect(wrong).toEqual([]);
  });
});
