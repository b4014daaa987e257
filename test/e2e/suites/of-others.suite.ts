import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Decrypter } from 'age-encryption';
import { expect, it } from 'vitest';
import { isLong } from '../../long.ts';
import { makeSshKey } from '../ssh-keys.ts';
import type { Suite } from './index.ts';

/** Work with the files of other programs for which no key of a store or server is needed. */
export const ofOthersSuite: Suite = (here) => {
  const program = (name: string, words: readonly string[], input?: string) =>
    spawnSync(name, words, {
      cwd: here().directory,
      input: input && readFileSync(here().file(input)),
      encoding: 'utf8',
    });
  const file = (name: string, content: string | Uint8Array): void => {
    writeFileSync(here().file(name), content);
    chmodSync(here().file(name), 0o600);
  };
  const read = (name: string): Buffer => readFileSync(here().file(name));

  it.each(['ed25519', 'ecdsa', 'rsa'])('verifies what ssh-keygen signs with %s', async (type) => {
    rmSync(here().file(`id_${type}`), { force: true });
    makeSshKey(here().file(`id_${type}`), type, 'somebody');
    file('message', 'a message');
    rmSync(here().file('message.sig'), { force: true });
    program('ssh-keygen', ['-Y', 'sign', '-n', 'mail', '-f', `id_${type}`, 'message']);
    const alone = here().with({
      COFFER_STORE: here().file('no-store'),
      COFFER_ADDR: undefined,
      COFFER_TOKEN: undefined,
    });
    const verify = (...words: string[]) =>
      alone.run(['verify', 'message', '--public-key', `id_${type}.pub`, ...words]);
    expect(await verify('--namespace', 'mail')).toMatchObject({ exitCode: 0 });
    expect(await verify()).toMatchObject({
      exitCode: 5,
      stdout: 'message: not valid: the signature was created for the namespace "mail", not "file"\n',
    });
    program('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', 'other']);
    const other = await alone.run('verify message --public-key other.pub --namespace mail');
    expect(other).toMatchObject({ exitCode: 5 });
    expect(other.stdout).toContain('another key, SHA256:');
  });

  it('open with a passphrase, here and with age', async () => {
    file('plain', 'a secret of two');
    file('word', 'seven-words-would-be-better\n');
    await here().ok('transit envelope encrypt --passphrase-file word --in plain --out word.age');
    expect(read('word.age').toString('latin1')).toMatch(
      /^age-encryption\.org\/v1\n-> scrypt [\w+/]{22} 18\n/,
    );
    if (isLong) {
      // Seconds, in JavaScript.
      const decrypter = new Decrypter();
      decrypter.addPassphrase('seven-words-would-be-better');
      expect(Buffer.from(await decrypter.decrypt(read('word.age'))).toString()).toBe('a secret of two');
    }
    expect((await here().ok('transit envelope decrypt --passphrase-file word --in word.age')).trim()).toBe(
      'a secret of two',
    );
    file('other', 'something else');
    expect(await here().run('transit envelope decrypt --passphrase-file other --in word.age')).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('wrong passphrase') as string,
    });
  });
};
