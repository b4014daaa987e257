import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`),
];

/** A page may leave out the folder of a file that it has just spoken of. */
const sources = new Set(
  ['src', 'test', 'scripts', 'bench'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => basename(name)),
  ),
);

const found = (page: string, pattern: RegExp): readonly string[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(pattern)].map(([, name = '']) => name);

describe('the pages of the documentation', () => {
  it.each(pages)('link to pages that exist: %s', (page) => {
    const links = found(page, /\]\((?!\w+:|#)([^)#\s]+)(?:#[^)]*)?\)/g);
    expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
  });

  it.each(pages)('name files of the repository that exist: %s', (page) => {
    const paths = found(page, /`((?:src|test|scripts|bench|docs)\/[\w./-]+)`/g);
    const bare = found(page, /`([\w-]+(?:\.[\w-]+)*\.ts)`/g);
    expect([
      ...paths.filter((path) => !existsSync(join(root, path))),
      ...bare.filter((name) => !sources.has(name)),
    ]).toEqual([]);
  });
});
