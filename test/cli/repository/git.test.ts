import { tmpdir } from 'node:os';
import { afterEach, expect, it, vi } from 'vitest';
import { git } from '../../../src/cli/repository/git.ts';

afterEach(() => vi.unstubAllEnvs());

it('gives git, and what a repository has it start, none of the secrets of ours', () => {
  for (const name of ['COFFER_MASTER_KEY', 'COFFER_TOKEN', 'GIT_AUTHOR_NAME']) vi.stubEnv(name, 'given');
  const seen = git(tmpdir(), ['-c', 'alias.seen=!env', 'seen'])?.toString() ?? '';
  expect(seen).toContain('GIT_AUTHOR_NAME=given');
  expect(seen).not.toMatch(/^COFFER_(?:MASTER_KEY|TOKEN)=/m);
});
