import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Suite } from './index.ts';

export const movingKeysSuite: Suite = (here) => {
  const movable = (name: string): void => {
    here().ok(`transit keys create ${name} --exportable --allow-plaintext-backup`);
  };

  it('backs a key up and brings it back under another name, with every version', () => {
    movable('origin');
    const old = here().ok('transit encrypt origin before');
    here().ok('transit keys rotate origin');
    here().ok('transit backup origin --out origin.backup');
    expect(statSync(here().file('origin.backup')).mode & 0o777).toBe(0o600);
    here().ok('transit restore copy --in origin.backup');
    expect(here().ok(`transit decrypt copy ${old}`)).toBe('before');
    expect(here().json('transit keys read copy')).toMatchObject({ latest_version: 2 });
  });

  it('restores under the old name from standard input, and overwrites only with --force', () => {
    movable('again');
    const sealed = here().ok('transit encrypt again x');
    const backup = here().ok('transit backup again');
    expect(here().refused('transit restore', 6, { input: backup })).toContain('again');
    here().ok('transit keys rotate again');
    here().ok('transit restore --force', { input: backup });
    expect(here().json('transit keys read again')).toMatchObject({ latest_version: 1 });
    here().ok('transit keys config again --deletion-allowed');
    here().ok('transit keys delete again --yes');
    here().ok('transit restore', { input: `${backup}\n` });
    expect(here().ok(`transit decrypt again ${sealed}`)).toBe('x');
  });

  it('exports one version, the latest, or all', () => {
    movable('shown');
    here().ok('transit keys rotate shown');
    const keys = (more: string) =>
      (
        here().json(`transit keys export shown --key-type encryption-key${more}`) as {
          keys: Record<string, string>;
        }
      ).keys;
    expect(Object.keys(keys(''))).toEqual(['1', '2']);
    expect(Object.keys(keys(' --version 1'))).toEqual(['1']);
    expect(keys(' --version latest')).toEqual({ 2: keys('')['2'] });
    expect(Buffer.from(keys('')['2'] ?? '', 'base64')).toHaveLength(32);
    here().ok('transit keys create pair --type ecdsa-p256');
    expect(here().ok('transit keys export pair --key-type public-key -o json')).toContain('BEGIN PUBLIC KEY');
  });

  it('refuses to show what was not allowed to be shown', () => {
    here().ok('transit keys create closed');
    here().refused('transit backup closed', 1);
    here().refused('transit keys export closed --key-type encryption-key', 1);
    here().refused('transit keys export shown --key-type skeleton-key', 2);
    here().refused('transit keys export shown --key-type encryption-key --version 9', 2);
    here().refused('transit backup nobody', 3);
  });

  it.each([
    ['nothing', ''],
    ['something else', 'not a backup'],
    ['base64 of something else', Buffer.from('{"policy":{}}').toString('base64')],
  ])('refuses to restore %s, and changes nothing', (_, input) => {
    here().refused('transit restore victim', 2, { input });
    here().refused('transit keys read victim', 3);
  });

  it('keeps the cache size that it is told', () => {
    expect(here().json('transit cache-config')).toEqual({ size: 0 });
    here().ok('transit cache-config --size 10');
    expect(here().json('transit cache-config')).toEqual({ size: 10 });
    here().refused('transit cache-config --size -1', 2);
  });
};
