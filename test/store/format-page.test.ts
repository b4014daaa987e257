import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { MOUNT_TYPES } from '../../src/operations/mount-types.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(`${root}/docs/format.md`, 'utf8');

/** The names of collections that do not belong to a mount, or to one organization. */
const named = globSync('src/{access,tags,mounts}/**/*.ts', { cwd: root })
  .flatMap((file) => readFileSync(`${root}/${file}`, 'utf8').match(/'(?:access|tags)\/[a-z-]+'/g) ?? [])
  .map((text) => text.slice(1, -1));

describe('the page about the format', () => {
  it.each([...new Set(named)])('says what lies in %s', (collection) => {
    expect(page).toContain(`\`${collection}\``);
  });

  it.each(MOUNT_TYPES.map(({ name, collections }) => [name, collections] as const))(
    'says what a mount of %s keeps',
    (type, collections) => {
      const rows = page.split('\n').filter((line) => line.startsWith('| `') && line.includes(`\`${type}`));
      for (const collection of collections) expect(rows.join('\n')).toContain(`/${collection}\``);
    },
  );
});
