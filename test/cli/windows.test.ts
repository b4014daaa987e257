import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { editorOf, launchOf } from '../../src/cli/editing/editor.ts';
import { findProgram } from '../../src/cli/files/program.ts';
import { stateDirectory } from '../../src/cli/state-directory.ts';

const base = mkdtempSync(join(tmpdir(), 'coffer-windows-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe('programs on Windows', () => {
  const bin = join(base, 'bin');
  const tools = join(base, 'tools');
  for (const [directory, name] of [
    [bin, 'node.exe'],
    [bin, 'npm.cmd'],
    [tools, 'node.exe'],
    [tools, 'plain'],
  ] as const) {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, name), '');
    chmodSync(join(directory, name), 0o755);
  }
  const Path = [bin, tools].join(';');

  it.each([
    ['node', join(bin, 'node.exe')],
    ['node.exe', join(bin, 'node.exe')],
    ['npm', join(bin, 'npm.cmd')],
    [`${tools}/node`, join(tools, 'node.exe')],
  ])('are found as %s', (name, path) => {
    expect(findProgram(name, { Path }, 'win32')).toEqual({ kind: 'program', path });
  });

  it('have one of the endings that are programs there', () => {
    expect(findProgram('plain', { Path }, 'win32')).toEqual({ kind: 'not-found' });
    expect(findProgram('npm', { Path, PATHEXT: '.COM;.EXE' }, 'win32')).toEqual({ kind: 'not-found' });
  });
});

describe('the editor on Windows', () => {
  it('is Notepad where none is chosen, and vi elsewhere', () => {
    expect(editorOf({}, 'win32').command).toBe('notepad');
    expect(editorOf({ PATH: '' }, 'linux').command).toBe('vi');
  });

  it('has to wait under its names there, too', () => {
    expect(() => editorOf({ EDITOR: 'C:\\Code\\bin\\code.cmd' }, 'win32')).toThrow(
      'returns before its window is closed',
    );
  });

  it('is started by the shell of the system, with the file as one word', () => {
    const editor = { command: 'code --wait', arguments: [] };
    expect(
      launchOf(editor, 'C:\\Users\\Ada L\\a.env', { ComSpec: 'x', COMSPEC: 'C:\\cmd.exe' }, 'win32'),
    ).toMatchObject({
      path: 'C:\\cmd.exe',
      words: ['C:\\cmd.exe', '/d', '/s', '/c', '"code --wait "C:\\Users\\Ada L\\a.env""'],
      asItIs: true,
    });
  });
});

describe('what is remembered for a user', () => {
  it.each([
    ['darwin', { HOME: '/Users/ada' }, '/Users/ada/Library/Application Support/coffer-state'],
    ['linux', { HOME: '/home/ada' }, '/home/ada/.local/state/coffer'],
    ['win32', { LOCALAPPDATA: '/c/Local' }, '/c/Local/coffer-state'],
    ['win32', { HOME: '/home/ada' }, undefined],
  ])('is on %s with the variables %j in %s', (platform, environment, directory) => {
    expect(stateDirectory(environment, platform)).toBe(directory);
  });
});
