import { randomBytes } from 'node:crypto';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isLong } from '../../long.ts';
import { base64, binary } from '../harness.ts';
import type { Suite } from './index.ts';

const CHUNK = 65_536;
const MEBI = 2 ** 20;

/** Commands in scripts and pipes, with standard streams of their own. */
export const pipesSuite: Suite = (here, { remote }) => {
  /** For streams to which it makes no difference where the keys are: on a server in the long proof alone. */
  const wherever = it.skipIf(remote && !isLong);

  const make = (name: string, size: number): Buffer => {
    const bytes = randomBytes(size);
    writeFileSync(here().file(name), bytes);
    return bytes;
  };
  const newKey = async (name: string): Promise<void> => {
    await here().ok(`transit keys create ${name}`);
  };

  it('gives back megabytes of random bytes identical, through two pipes', async () => {
    make('large', isLong ? 20_000_000 : 2_000_000);
    const piped = await here().shell(
      'coffer transit encrypt large < large | coffer transit decrypt large | cmp - large',
    );
    expect(piped).toMatchObject({ exitCode: 0, stdout: '' });
  });

  wherever('sees the newline that echo writes and printf does not', async () => {
    const through = async (command: string) =>
      (await here().shell(`${command} | coffer transit encrypt lines | coffer transit decrypt lines`)).stdout;
    expect(await through("echo 'line'")).toBe('line\n');
    expect(await through("printf 'line'")).toBe('line');
  });

  describe('envelopes that are streams', () => {
    it.each(remote && !isLong ? [5_000_000] : [0, CHUNK, 5_000_000])(
      'of %i bytes come back through two pipes',
      async (size) => {
        await newKey('pipes');
        const plaintext = make('plain', size);
        const { bytes, exitCode, stderr } = await here().shell(
          'coffer transit envelope encrypt pipes < plain | coffer transit envelope decrypt',
        );
        expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
        expect(bytes.equals(plaintext)).toBe(true);
      },
    );

    wherever('of a length that nobody knows carry a whole archive', async () => {
      await newKey('archives');
      mkdirSync(here().file('tree/below'), { recursive: true });
      make('tree/one', 300_000);
      make('tree/below/two', 10);
      const { stdout, exitCode } = await here().shell(
        'tar -c tree | coffer transit envelope encrypt archives | coffer transit envelope decrypt archives | tar -t | sort',
      );
      expect(exitCode).toBe(0);
      expect(stdout).toBe('tree/\ntree/below/\ntree/below/two\ntree/one\n');
    });

    it('that break off fail, after a true beginning of the data', async () => {
      await newKey('broken');
      const plaintext = make('plain', 10 * CHUNK);
      const { bytes, exitCode, stderr } = await here().shell(
        'coffer transit envelope encrypt broken < plain | head -c 400000 | coffer transit envelope decrypt',
      );
      expect(exitCode).toBe(4);
      expect(stderr).toBe(
        'coffer: the envelope is damaged: its end is missing or was changed, or data was added after it (get a fresh copy of the file)\n',
      );
      expect(bytes.length % CHUNK).toBe(0);
      expect(bytes.length).toBeGreaterThan(0);
      expect(bytes.equals(plaintext.subarray(0, bytes.length))).toBe(true);
    });
  });

  it('needs constant memory for a stream of any length', async () => {
    // More than there is room for, in any case.
    const [lines, bytes] = isLong ? [60_000, 1_000] : [8_000, 4_000];
    await newKey('batches');
    const script = `
      set +o pipefail
      yes '{"plaintext":"${base64('x'.repeat(bytes))}"}' | head -n ${lines} |
        NODE_OPTIONS=--max-old-space-size=48 coffer transit encrypt batches --batch - | wc -l`;
    const { stdout, stderr, exitCode } = await here().shell(script);
    expect({ stdout: stdout.trim(), stderr, exitCode }).toEqual({
      stdout: `${lines}`,
      stderr: '',
      exitCode: 0,
    });
  });

  wherever('ends quietly when the reader has seen enough', async () => {
    const script = `yes '{"plaintext":"YQ=="}' | head -n 50000 | coffer transit encrypt batches --batch - | head -n 1 | wc -l`;
    expect(await here().shell(`set +o pipefail; ${script}`)).toMatchObject({ stdout: '1\n', stderr: '' });
  });

  wherever('refuses input that is larger than can be handled at once, and says what to use', async () => {
    const line = (await here().shell(`head -c ${300 * MEBI} /dev/zero | coffer transit encrypt strict`))
      .stderr;
    expect(line).toMatch(/^coffer: [^\n]*envelope[^\n]*\n$/);
  });

  wherever('writes to what it was started with, even where that is a file', async () => {
    const { exitCode, stdout } = await here().shell(
      'echo first > log && coffer transit random 1 --out /dev/stdout >> log && coffer keygen --out /dev/null && cat log',
    );
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^first\n\S+\n$/);
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  wherever('lets git sign commits and tags with a key of the store, and verify them', async () => {
    await here().ok('transit keys create committer --type ed25519');
    const script = `
      set -e
      export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
      rm -rf repository && git init -q repository && cd repository
      printf '#!/bin/sh\\nexec "$COFFER_NODE" "$COFFER_BINARY" ssh-keygen "$@"\\n' > ../coffer-ssh-keygen
      chmod +x ../coffer-ssh-keygen
      git config user.name Somebody && git config user.email somebody@example.com
      git config gpg.format ssh
      git config gpg.ssh.program "$PWD/../coffer-ssh-keygen"
      git config user.signingKey "key::$(coffer transit keys public committer --format ssh)"
      coffer transit keys public committer --format allowed-signers --identity somebody@example.com > ../allowed
      git config gpg.ssh.allowedSignersFile "$PWD/../allowed"
      echo text > file && git add file
      sleep 1.1
      git commit -q -S -m signed
      git tag -s -m tagged v1
      git verify-commit HEAD && git verify-tag v1
      git log --show-signature -1
      : > ../allowed
      ! git verify-commit HEAD
    `;
    const coffer = script.replaceAll('$COFFER_NODE', process.execPath).replaceAll('$COFFER_BINARY', binary);
    const result = await here().shell(coffer);
    expect(result).toMatchObject({ exitCode: 0 });
    expect(`${result.stdout}${result.stderr}`).toContain(
      'Good "git" signature for somebody@example.com with ED25519 key SHA256:',
    );
  });
};
