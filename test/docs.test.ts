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

const COLUMNS = 120;

/** The lines of prose: without code blocks, tables, and what a program writes. */
function proseOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8').replace(/^( *)(```+|~~~+)[\s\S]*?^\1\2 *$/gm, '');
  return text.split('\n').filter((line) => !/^\s*\||^ {4}/.test(line));
}

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (page: string): ReadonlySet<string> =>
  new Set(
    found(page, /^#{1,6} (.+)$/gm).map((heading) =>
      heading
        .toLowerCase()
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

const found = (page: string, pattern: RegExp): readonly string[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(pattern)].map(([, name = '']) => name);

describe('the pages of the documentation', () => {
  it.each(pages.filter((page) => page !== 'CHANGELOG.md'))(
    'have lines of 120 columns at most: %s',
    (page) => {
      expect(proseOf(page).filter((line) => line.length > COLUMNS)).toEqual([]);
    },
  );

  it('quote lines of the log in capitals as the program writes them, so that alerts on them work', () => {
    const written = readFileSync(join(root, 'src/service/service.ts'), 'utf8');
    const quoted = pages
      .filter((page) => page !== 'CHANGELOG.md')
      .flatMap((page) => found(page, /`(THE [A-Z ]+)`/g));
    expect(quoted).toContain('THE STORE WAS ROLLED BACK');
    expect(quoted.filter((line) => !written.includes(`'${line}: `))).toEqual([]);
  });

  it('are all named in the index, but for decisions, which have one of their own', () => {
    const linked = new Set(found('docs/README.md', /\]\(([\w-]+\.md)/g));
    const unnamed = pages.filter(
      (page) => /^docs\/[^/]+$/.test(page) && page !== 'docs/README.md' && !linked.has(basename(page)),
    );
    expect(unnamed).toEqual([]);
  });

  it.each(pages)('link to headings that are there: %s', (page) => {
    const links = [...readFileSync(join(root, page), 'utf8').matchAll(/\]\((?!\w+:)([^)#\s]*)#([^)]+)\)/g)];
    const missing = links.filter(([, path = '', anchor = '']) => {
      const target = path === '' ? page : join(dirname(page), path);
      return target.endsWith('.md') && existsSync(join(root, target)) && !anchorsOf(target).has(anchor);
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });

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
