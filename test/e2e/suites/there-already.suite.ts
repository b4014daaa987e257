import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { base64 } from '../harness.ts';
import type { Suite } from './index.ts';

/** What is there already: things with names, and files that results are to go into. */
export const thereAlreadySuite: Suite = (here) => {
  it.each([
    ['orgs create there', ''],
    ['workspaces create w --org there', 'a workspace "w" already exists'],
    ['tags create env:prod --org there', 'a tag "env:prod" already exists'],
    ['mounts add twice', 'path is already in use at twice/'],
  ])('says of a second "%s" that it exists, and takes it for good with --if-missing', async (line, text) => {
    await here().ok(line);
    expect(await here().refused(line, 6)).toContain(text);
    const { exitCode, stdout, stderr } = await here().run(`${line} --if-missing`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
    expect(stderr).toContain(text);
  });

  it('makes those of several tags that are missing', async () => {
    await here().ok('orgs create several');
    await here().ok('tags create a --org several');
    await here().refused('tags create a b --org several', 6);
    expect(await here().ok('tags list --org several')).toBe(await here().ok('tags list a --org several'));
    const made = await here().ok('tags create a b c --org several --if-missing -o json');
    expect(JSON.parse(made)).toMatchObject({
      data: [{ attributes: { name: 'b' } }, { attributes: { name: 'c' } }],
    });
  });

  it('says of a key that is there as asked for that it is, and refuses one that is something else', async () => {
    await here().ok('transit keys create signer --type ed25519');
    const again = await here().run('transit keys create signer --type ed25519');
    expect(again).toMatchObject({ exitCode: 0, stdout: '' });
    expect(again.stderr).toBe('Key signer already exists (ed25519, version 1).\n');
    expect(await here().refused('transit keys create signer', 6)).toContain(
      'key "signer" already exists, but its type is ed25519, not aes256-gcm96',
    );
    expect((await here().run('transit keys create signer --if-missing')).exitCode).toBe(0);
    expect(await here().refused('transit keys create signer --type ed25519 --derived', 6)).toContain(
      'its setting "derived" is false',
    );
  });

  it('counts what can be changed later only where it was asked for', async () => {
    await here().ok('transit keys create later');
    await here().refused('transit keys create later --auto-rotate-period 24h', 6);
    await here().ok('transit keys config later --auto-rotate-period 24h');
    await here().ok('transit keys create later');
    await here().ok('transit keys create later --auto-rotate-period 24h');
  });

  it('says of a key that would be brought in twice that it exists', async () => {
    await here().ok('transit keys create moved --exportable --allow-plaintext-backup');
    await here().ok('transit backup moved --out moved.backup');
    await here().refused('transit restore --in moved.backup', 6);
    await here().ok('transit restore --in moved.backup --if-missing');
    await here().ok('transit restore --in moved.backup --force');
    writeFileSync(here().file('raw'), Buffer.alloc(32, 1).toString('base64'));
    await here().refused('transit import moved --in raw', 6);
  });

  it('ends with 4 for what was altered, cut, or made with another key', async () => {
    const ciphertext = await here().ok('transit encrypt a secret');
    await here().ok('transit keys create b');
    const altered = ciphertext.replace(
      /.(.{10})$/,
      (whole, end) => `${whole.startsWith('A') ? 'B' : 'A'}${end}`,
    );
    expect(await here().refused(`transit decrypt a ${altered}`, 4)).toContain('the ciphertext was modified');
    await here().refused(`transit decrypt b ${ciphertext}`, 4);
    await here().refused(`transit rewrap b ${ciphertext}`, 4);
    await here().refused('transit decrypt a service:v1:AAAA', 4);
    await here().refused('transit decrypt a nonsense', 2);
    writeFileSync(here().file('plain'), 'text');
    await here().ok('transit envelope encrypt a --in plain --out sealed');
    writeFileSync(here().file('cut'), readFileSync(here().file('sealed')).subarray(0, -3));
    await here().refused('transit envelope decrypt --in cut', 4);
  });

  it.each([
    ['keygen --out f'],
    ['transit random --out f'],
    ['transit encrypt a x --out f'],
    ['transit envelope encrypt a --in source --out f'],
    ['read transit/keys/a --out f'],
    ['transit encrypt a --batch items --out f'],
  ])('replaces a file by "%s" only with --force or --yes', async (line) => {
    await here().ok('transit keys create a');
    writeFileSync(here().file('f'), 'precious');
    writeFileSync(here().file('source'), 'text');
    writeFileSync(here().file('items'), JSON.stringify({ plaintext: base64('x') }));
    expect(await here().refused(line, 6)).toBe('coffer: f already exists (use --force to overwrite it)');
    expect(readFileSync(here().file('f'), 'utf8')).toBe('precious');
    for (const consent of ['--force', '--yes']) {
      writeFileSync(here().file('f'), 'precious');
      await here().ok(`${line} ${consent}`);
      expect(readFileSync(here().file('f'), 'utf8')).not.toBe('precious');
    }
  });
};
