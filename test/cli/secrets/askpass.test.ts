import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askToUnlockOf } from '../../../src/cli/agent/ask.ts';
import { openRunner } from '../../../src/cli/command-line.ts';
import {
  answerByProgram,
  askpassOf,
  askpassVariables,
  confirmByProgram,
} from '../../../src/cli/secrets/askpass.ts';
import { Session } from '../../../src/cli/session.ts';
import { lightWork } from '../../light-work.ts';
import { refused } from '../../refusal.ts';
import { temporaryDirectory } from '../../store/temporary-store.ts';
import { DirectoryHere } from '../directory-here.ts';
import { promptsDouble, streamsDouble } from '../streams.double.ts';

const ENVIRONMENT = { PATH: process.env['PATH'] ?? '' };

const TIMES = { idleMs: 1000, forMs: 1000 };

/** A program of these lines, as an askpass program is one. */
function program(...lines: readonly string[]): string {
  const path = join(temporaryDirectory(), 'askpass');
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o700 });
  return path;
}

const answer = async (...lines: readonly string[]): Promise<string | undefined> =>
  (await answerByProgram(program(...lines), 'What?', ENVIRONMENT))?.toString();

const sessionIn = (environment: Readonly<Record<string, string | undefined>>): Session =>
  new Session(streamsDouble(), environment, new Map(), promptsDouble([], false), openRunner);

describe('the answer of an askpass program', () => {
  it('is its first line, if it succeeds', async () => {
    expect(await answer('printf %s "$1"')).toBe('What?');
    expect(await answer('printf "one\\ntwo\\n"')).toBe('one');
    expect(await answer('echo one', 'exit 1')).toBeUndefined();
    expect(await answer('echo', 'echo two')).toBeUndefined();
    expect(await answer(':')).toBeUndefined();
    expect(await answerByProgram('/nowhere/askpass', 'What?', ENVIRONMENT)).toBeUndefined();
  });

  it('has up to 64 KiB, and is none with a byte more', async () => {
    const most = 64 * 1024;
    expect((await answer(`printf %0${most}d 0`))?.length).toBe(most);
    expect(await answer(`printf %0${most + 1}d 0`)).toBeUndefined();
  });

  it('to a question of yes or no is its exit code, and no where it cannot be run', async () => {
    const asking = program('[ "$SSH_ASKPASS_PROMPT" = confirm ] || exit 2', '[ "$1" = yes ]');
    expect(await confirmByProgram(asking, 'yes', ENVIRONMENT)).toBe(true);
    expect(await confirmByProgram(asking, 'no', ENVIRONMENT)).toBe(false);
    expect(await confirmByProgram('/nowhere/askpass', 'yes', ENVIRONMENT)).toBe(false);
  });
});

describe('the askpass program', () => {
  it('is the one that is named for us, before that of ssh', () => {
    expect(askpassOf(sessionIn({}))).toBeUndefined();
    expect(askpassOf(sessionIn({ SSH_ASKPASS: 'ssh' }))).toBe('ssh');
    expect(askpassOf(sessionIn({ SSH_ASKPASS: 'ssh', COFFER_ASKPASS: 'ours' }))).toBe('ours');
  });

  it('gets none of our secrets, and is not told to ask for a yes by whoever has started us', () => {
    const environment = { A: 'b', COFFER_PASSPHRASE: 'x', VAULT_TOKEN: 'x', SSH_ASKPASS_PROMPT: 'confirm' };
    expect(askpassVariables(sessionIn(environment))).toEqual({ A: 'b' });
  });
});

describe('an agent that is locked', () => {
  it('asks three times for its passphrase, and says of each but the first that it was wrong', async () => {
    const giveBack = lightWork.here();
    const here = DirectoryHere.make({ COFFER_MASTER_KEY: undefined, COFFER_PASSPHRASE: 'drum-velvet-sugar' });
    try {
      await here.ok('init');
      const said = here.file('asked');
      const asking = program(`echo "$1" >> '${said}'`, 'echo wrong');
      const environment = { ...ENVIRONMENT, COFFER_STORE: here.file('.store'), HOME: here.file('home') };
      const session = sessionIn({ ...environment, COFFER_ASKPASS: asking });
      const ask = askToUnlockOf(session, TIMES);
      expect(await refused(ask?.('ssh') ?? Promise.resolve())).toMatchObject({ kind: 'denied' });
      const question = 'A program wants to use a key (ssh). Passphrase for the Coffer store:';
      const again = `Wrong passphrase. ${question}`;
      expect(readFileSync(said, 'utf8').trimEnd().split('\n')).toEqual([question, again, again]);
      const right = sessionIn({ ...environment, COFFER_ASKPASS: program('echo drum-velvet-sugar') });
      const opened = await askToUnlockOf(right, TIMES)?.('ssh');
      expect(opened?.handed.rootKey).toHaveLength(32);
    } finally {
      giveBack();
    }
  });

  it('asks nothing without such a program', () => {
    expect(askToUnlockOf(sessionIn({}), TIMES)).toBeUndefined();
  });
});
