import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openOutFile, refuseSameFile } from '../../src/cli/files/out-file.ts';
import { thrownBy } from '../reference/thrown.ts';
import { DirectoryHere } from './directory-here.ts';
import { run, stamp } from './stamp-command.ts';

let directory = '';
const file = (name: string): string => join(directory, name);
const opened = (path: string, field?: string) => openOutFile({ path, replace: true, field });

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-out-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('openOutFile', () => {
  it('shows nothing under the name before commit, and everything after', async () => {
    const out = opened(file('x'));
    out.write('one ');
    expect(readdirSync(directory)).toEqual([expect.stringMatching(/^\.x\.[0-9a-f]+\.tmp$/)]);
    out.write(Buffer.from('two'));
    await out.commit();
    out.abort();
    expect(readdirSync(directory)).toEqual(['x']);
    expect(readFileSync(file('x'), 'utf8')).toBe('one two');
    expect(statSync(file('x')).mode & 0o777).toBe(0o600);
  });

  it('leaves the old file and nothing else after abort', () => {
    writeFileSync(file('x'), 'old');
    const out = opened(file('x'));
    out.write('new');
    out.abort();
    expect(readdirSync(directory)).toEqual(['x']);
    expect(readFileSync(file('x'), 'utf8')).toBe('old');
  });

  it('replaces what a link points to, not the link', async () => {
    writeFileSync(file('real'), 'old');
    symlinkSync('real', file('link'));
    const out = opened(file('link'));
    out.write('new');
    await out.commit();
    expect(readFileSync(file('real'), 'utf8')).toBe('new');
    expect(readdirSync(directory).sort()).toEqual(['link', 'real']);
  });

  it('replaces nothing that it may not, be it there from the start or come meanwhile', async () => {
    writeFileSync(file('x'), 'old');
    const refusal = { kind: 'exists', message: expect.stringMatching(/x already exists$/) };
    expect(thrownBy(() => openOutFile({ path: file('x'), replace: false }))).toMatchObject(refusal);
    const late = openOutFile({ path: file('y'), replace: false });
    late.write('new');
    writeFileSync(file('y'), 'meanwhile');
    await expect(late.commit()).rejects.toMatchObject({ kind: 'exists' });
    late.abort();
    expect(readFileSync(file('x'), 'utf8') + readFileSync(file('y'), 'utf8')).toBe('oldmeanwhile');
    expect(readdirSync(directory).sort()).toEqual(['x', 'y']);
  });

  it('writes to a device directly', async () => {
    const out = opened('/dev/null');
    out.write('gone');
    await out.commit();
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  it.each([
    ['a directory', () => directory, /is a directory$/],
    ['a place in a directory that is not there', () => file('no/x'), /no such directory$/],
    ['a place below a file', () => join(file('f'), 'x'), /part of the path is not a directory$/],
  ])('refuses %s', (_, path, message) => {
    writeFileSync(file('f'), '');
    expect(thrownBy(() => opened(path(), 'out'))).toMatchObject({
      kind: 'invalid',
      field: 'out',
      message: expect.stringMatching(message),
    });
  });

  it.skipIf(process.getuid?.() === 0)('says that it may not write', () => {
    chmodSync(directory, 0o500);
    expect(thrownBy(() => opened(file('x')))).toMatchObject({ kind: 'unavailable' });
    chmodSync(directory, 0o700);
  });
});

describe('refuseSameFile', () => {
  it('sees one file behind two names', () => {
    writeFileSync(file('x'), '');
    symlinkSync('x', file('y'));
    expect(thrownBy(() => refuseSameFile(file('x'), file('y')))).toMatchObject({
      kind: 'invalid',
      message: 'input and output are the same file',
    });
    expect(() => refuseSameFile(file('x'), file('z'))).not.toThrow();
    expect(() => refuseSameFile(undefined, file('x'))).not.toThrow();
    expect(() => refuseSameFile('/dev/null', '/dev/null')).not.toThrow();
  });
});

describe('a result that cannot be written', () => {
  it.each([
    ['nowhere/x', 'no such directory'],
    ['plain/x', 'part of the path is not a directory'],
  ])('is refused before anything is done: %s', async (name, reason) => {
    const here = await DirectoryHere.withStore();
    await here.ok('auth enable approle');
    await here.ok('auth approle write deploy');
    here.write('plain', '');
    const out = here.file(name);
    const message = `coffer: --out: cannot write ${out}: ${reason}`;
    const tokens = await here.ok('token list -o json');
    for (const line of [
      'token create',
      'auth approle secret-id deploy',
      'transit keys rotate app',
      'unwrap used',
    ])
      expect(await here.refused([...line.split(' '), '--out', out], 2)).toBe(message);
    expect(await here.ok('token list -o json')).toBe(tokens);
    expect(await here.ok('auth approle list-secret-ids deploy')).toBe('');
    expect(JSON.parse(await here.ok('transit keys read app -o json')).latest_version).toBe(1);
  });

  it.skipIf(!existsSync('/dev/full'))(
    'is taken back if it is a new secret, for the reason that is told',
    async () => {
      const here = await DirectoryHere.withStore();
      await here.ok('auth enable approle --path machines');
      await here.ok('auth approle write deploy --path machines');
      const tokens = await here.ok('token list -o json');
      for (const [line, what] of [
        ['token create --policy default', 'the token'],
        ['auth approle secret-id deploy --path machines', 'the secret ID'],
      ])
        expect(await here.refused(`${line} --out /dev/full`, 1)).toBe(
          `coffer: cannot write /dev/full: no space left on the disk; ${what} was revoked (create another one)`,
        );
      expect(await here.ok('token list -o json')).toBe(tokens);
      expect(await here.ok('auth approle list-secret-ids deploy --path machines')).toBe('');
    },
  );

  it.skipIf(!existsSync('/dev/full'))('has a hint of its own where it was the only copy', async () => {
    const { computes: _computes, ...changing } = stamp;
    const onceOnly = 'have it made again';
    const { err } = await run(['orders', '--out', '/dev/full'], {
      operation: { ...changing, cli: { onceOnly } },
    });
    expect(err).toBe(
      'coffer: the operation succeeded, but cannot write /dev/full: no space left on the disk (have it made again)\n',
    );
  });
});
