import { chownSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeOwnDirectory } from '../../src/cli/state-directory.ts';
import { refusal } from '../refusal.ts';
import { temporaryDirectory } from '../store/temporary-store.ts';

const STRANGER = 4321;

it('a directory for the state of a user is made for that user alone, with the directories above it', () => {
  const home = temporaryDirectory();
  makeOwnDirectory(join(home, 'state', 'coffer'));
  for (const path of ['state', 'state/coffer']) expect(statSync(join(home, path)).mode & 0o777).toBe(0o700);
});

it.runIf(process.getuid?.() === 0)(
  'nothing is made in the home directory of another user, as a command under sudo would find it',
  () => {
    const home = join(temporaryDirectory(), 'home');
    mkdirSync(home);
    chownSync(home, STRANGER, STRANGER);
    expect(refusal(() => makeOwnDirectory(join(home, '.local', 'state')))).toEqual({
      kind: 'unavailable',
      message: `${home} belongs to another user`,
      field: undefined,
    });
    expect(existsSync(join(home, '.local'))).toBe(false);
  },
);
