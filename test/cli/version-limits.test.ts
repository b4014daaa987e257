import { describe, expect, it } from 'vitest';
import { DirectoryHere } from './directory-here.ts';

/** A key with a ciphertext and an HMAC of version 1, which is below both of its minimums. */
async function limited(): Promise<{ here: DirectoryHere; ciphertext: string; hmac: string }> {
  const here = await DirectoryHere.withStore();
  await here.ok('transit keys create orders --exportable');
  const ciphertext = await here.ok('transit encrypt orders x');
  const hmac = await here.ok('transit hmac orders x');
  await here.ok('transit keys rotate orders');
  await here.ok('transit keys config orders --min-encryption-version 2');
  await here.ok('transit keys config orders --min-decryption-version 2');
  return { here, ciphertext, hmac };
}

describe('an error about a version below the minimum of its key', () => {
  it('names the setting, and the command that allows the version again', async () => {
    const { here, ciphertext, hmac } = await limited();
    const lower = 'run "coffer transit keys config orders --min-decryption-version 1';
    expect(await here.refused(`transit verify orders x --hmac ${hmac}`, 2)).toBe(
      `coffer: --hmac: cannot verify HMAC: the key version is no longer allowed (--min-decryption-version of this key is 2; to allow version 1 again, ${lower}")`,
    );
    expect(await here.refused(`transit decrypt orders ${ciphertext}`, 2)).toContain(
      `(the ciphertext was made with version 1, but --min-decryption-version of this key is 2; to allow version 1 again, ${lower}")`,
    );
    for (const line of ['transit encrypt orders x', 'transit hmac orders x'])
      expect(await here.refused(`${line} --key-version 1`, 2)).toContain(
        `(--min-encryption-version of this key is 2; to allow version 1 again, ${lower} --min-encryption-version 1")`,
      );
    await here.ok('transit keys config orders --min-decryption-version 1 --min-encryption-version 1');
    expect(await here.ok(`transit decrypt orders ${ciphertext}`)).toBe('x');
    expect(await here.ok(`transit verify orders x --hmac ${hmac}`)).toBe('true');
  });

  it('names no command where none helps', async () => {
    const { here, ciphertext } = await limited();
    await here.ok('transit keys config orders --keep-versions 1');
    expect(await here.refused(`transit decrypt orders ${ciphertext}`, 2)).toContain(
      '--min-decryption-version of this key is 2: the key keeps its latest version usable)',
    );
    await here.ok('transit keys config orders --keep-versions 0');
    await here.ok('transit keys trim orders --min-available-version 2 --yes');
    expect(await here.refused(`transit decrypt orders ${ciphertext}`, 2)).toContain(
      '--min-decryption-version of this key is 2, and version 1 was deleted)',
    );
  });

  it('names a minimum for encryption that is not below that for decryption, and no version that does not exist', async () => {
    const { here } = await limited();
    await here.ok('transit keys config orders --min-encryption-version 0');
    const command = 'transit keys config orders --min-encryption-version 2';
    expect(await here.refused('transit keys trim orders --min-available-version 1 --yes', 2)).toContain(
      `(run "coffer ${command}" first)`,
    );
    await here.ok(command);
    expect(await here.refused('transit keys trim orders --min-available-version 9 --yes', 2)).toContain(
      '(use a version up to 2, the latest of this key)',
    );
  });

  it('names the command that raises it, where older versions can only be deleted then', async () => {
    const { here } = await limited();
    for (const [minimum, other] of [
      ['encryption', ' --min-decryption-version 3'],
      ['decryption', ''],
    ]) {
      await here.ok('transit keys rotate orders');
      expect(await here.refused('transit keys trim orders --min-available-version 3 --yes', 2)).toContain(
        `to raise it, run "coffer transit keys config orders${other} --min-${minimum}-version 3" first)`,
      );
      await here.ok(`transit keys config orders --min-${minimum}-version 3`);
    }
    await here.ok('transit keys trim orders --min-available-version 3 --yes');
  });
});
