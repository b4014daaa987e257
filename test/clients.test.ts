import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Client } from './clients/client.ts';

const here = fileURLToPath(new URL('clients/', import.meta.url));
const page = readFileSync(fileURLToPath(new URL('../docs/clients.md', import.meta.url)), 'utf8');
const names = globSync('*/client.ts', { cwd: here }).map(dirname).sort();
/** Every line of the suite, which tries what the page shows. */
const tried = new Set(
  globSync('**/*', { cwd: here })
    .map((path) => join(here, path))
    .filter((path) => statSync(path).isFile())
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .map((line) => line.trim()),
);

const clientOf = async (name: string): Promise<Client> =>
  ((await import(`./clients/${name}/client.ts`)) as { client: Client }).client;

describe('the page of clients that work', () => {
  it.each(names)('names the version of %s that is tried', async (name) => {
    const { version } = await clientOf(name);
    expect(page).toContain(`| ${version} |`);
  });

  it('shows commands and programs in Go that are tried line by line as they stand', () => {
    const [, ...sections] = page.split('\n## ');
    const blocks = sections
      .flatMap((section) => [...section.matchAll(/```(?:sh|hcl|go)\n([\s\S]*?)```/g)])
      .map(([, block = '']) => block);
    expect(blocks.length).toBeGreaterThan(8);
    const shown = blocks.flatMap((block) => block.split('\n')).map((line) => line.trim());
    expect(shown.filter((line) => !tried.has(line))).toEqual([]);
  });
});
