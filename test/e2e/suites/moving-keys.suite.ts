import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Suite } from './index.ts';

export const movingKeysSuite: Suite = (here) => {
  const movable = async (name: string): Promise<void> => {
    await here().ok(`transit keys create ${name} --exportable --allow-plaintext-backup`);
  };

  it('backs a key up and brings it back under another name, with every version', async () => {
    await movable('origin');
    const old = await here().ok('transit encrypt origin before');
    await here().ok('transit keys rotate origin');
    await here().ok('transit backup origin --out origin.backup');
    expect(statSync(here().file('origin.backup')).mode & 0o777).toBe(0o600);
    await here().ok('transit restore copy --in origin.backup');
    expect(await here().ok(`transit decrypt copy ${old}`)).toBe('before');
    expect(await here().json('transit keys read copy')).toMatchObject({ latest_version: 2 });
  });

  it('restores under the old name from standard input, and overwrites only with --force', async () => {
    await movable('again');
    const sealed = await here().ok('transit encrypt again x');
    const backup = await here().ok('transit backup again');
    expect(await here().refused('transit restore', 6, { input: backup })).toContain('again');
    await here().ok('transit keys rotate again');
    await here().ok('transit restore --force', { input: backup });
    expect(await here().json('transit keys read again')).toMatchObject({ latest_version: 1 });
    await here().ok('transit keys config again --deletion-allowed');
    await here().ok('transit keys delete again --yes');
    await here().ok('transit restore', { input: `${backup}\n` });
    expect(await here().ok(`transit decrypt again ${sealed}`)).toBe('x');
  });

  it('exports one version, the latest, or all', async () => {
    await movable('shown');
    await here().ok('transit keys rotate shown');
    const keys = async (more: string) =>
      (
        (await here().json(`transit keys export shown --key-type encryption-key${more}`)) as {
          keys: Record<string, string>;
        }
      ).keys;
    expect(Object.keys(await keys(''))).toEqual(['1', '2']);
    expect(Object.keys(await keys(' --version 1'))).toEqual(['1']);
    expect(await keys(' --version latest')).toEqual({ 2: (await keys(''))['2'] });
    expect(Buffer.from((await keys(''))['2'] ?? '', 'base64')).toHaveLength(32);
    await here().ok('transit keys create pair --type ecdsa-p256');
    expect(await here().ok('transit keys export pair --key-type public-key -o json')).toContain(
      'BEGIN PUBLIC KEY',
    );
  });

  it('refuses to show what was not allowed to be shown', async () => {
    await here().ok('transit keys create closed');
    await here().refused('transit backup closed', 1);
    await here().refused('transit keys export closed --key-type encryption-key', 1);
    await here().refused('transit keys export shown --key-type skeleton-key', 2);
    await here().refused('transit keys export shown --key-type encryption-key --version 9', 2);
    await here().refused('transit backup nobody', 3);
  });

  it.each([
    ['nothing', ''],
    ['something else', 'not a backup'],
    ['base64 of something else', Buffer.from('{"policy":{}}').toString('base64')],
  ])('refuses to restore %s, and changes nothing', async (_, input) => {
    await here().refused('transit restore victim', 2, { input });
    await here().refused('transit keys read victim', 3);
  });

  it('keeps the cache size that it is told', async () => {
    expect(await here().json('transit cache-config')).toEqual({ size: 0 });
    await here().ok('transit cache-config --size 10');
    expect(await here().json('transit cache-config')).toEqual({ size: 10 });
    await here().refused('transit cache-config --size -1', 2);
  });
};
