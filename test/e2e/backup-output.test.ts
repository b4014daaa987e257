import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { local, type Place, removePlace } from './harness.ts';

let here: Place;

beforeEach(async () => {
  here = (await local.start()).place;
});
afterEach(() => removePlace(here));

describe('coffer store backup -', () => {
  it('writes the backup to standard output, and nothing else', async () => {
    const ciphertext = await here.ok('transit encrypt orders secret');
    const { exitCode, bytes, stderr } = await here.run('store backup - -o json');
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^Backed up the store to standard output \(\d+ files\)\. /);
    writeFileSync(here.file('piped'), bytes);
    await here.ok('store restore piped --store restored');
    expect(await here.ok(`transit decrypt orders ${ciphertext} --store restored`)).toBe('secret');
    expect(existsSync(here.file('-'))).toBe(false);
  });

  it('writes nothing of a damaged store', async () => {
    await here.ok('transit keys create one');
    // What is damaged in a document is taken from the log if it is still there; this empties it.
    await here.ok('rekey');
    const [victim = ''] = readdirSync(here.file('store'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.includes('documents') && statSync(here.file(`store/${name}`)).isFile(),
    );
    writeFileSync(here.file(`store/${victim}`), 'damaged');
    expect(await here.run('store backup -')).toMatchObject({ exitCode: 1, stdout: '' });
  });

  it('fails when nobody reads the backup, and leaves no file behind', async () => {
    const { stderr } = await here.shell('coffer store backup - | true; echo "status $PIPESTATUS" >&2', {
      environment: { TMPDIR: here.directory },
    });
    expect(stderr).toContain('standard output was closed before the backup was written');
    expect(stderr).toContain('status 1');
    expect(readdirSync(here.directory).filter((name) => name.includes('backup'))).toEqual([]);
  });
});

describe('coffer store restore -', () => {
  it('restores a backup from a pipe or a file, and leaves no other file behind', async () => {
    const ciphertext = await here.ok('transit encrypt orders secret');
    const { bytes } = await here.run('store backup -');
    writeFileSync(here.file('backup'), bytes);
    const environment = { TMPDIR: here.directory };
    for (const [store, script] of [
      ['piped', 'cat backup | coffer store restore - --store piped'],
      ['unverified', 'cat backup | coffer store restore - --store unverified --unverified'],
      ['redirected', 'coffer store restore - --store redirected < backup'],
    ]) {
      const { exitCode, stderr } = await here.shell(script ?? '', { environment });
      expect([exitCode, stderr]).toEqual([
        0,
        expect.stringMatching(new RegExp(`^Restored \\d+ files to .*${store}\\.\n$`)),
      ]);
      expect(await here.ok(`transit decrypt orders ${ciphertext} --store ${store}`)).toBe('secret');
    }
    expect(
      readdirSync(here.directory)
        .filter((name) => name !== '.local')
        .sort(),
    ).toEqual(['backup', 'piped', 'redirected', 'store', 'unverified'].sort());
  });

  it('creates nothing of a backup that is damaged, incomplete or none, and names standard input', async () => {
    await here.ok('transit keys create orders');
    const { bytes } = await here.run('store backup -');
    const damaged = Buffer.from(bytes);
    damaged.writeUInt8(damaged.readUInt8(damaged.length >> 1) ^ 1, damaged.length >> 1);
    for (const [input, message] of [
      [damaged, 'standard input is damaged (use another backup)'],
      [bytes.subarray(0, -1), 'standard input ends too early: it is cut off or damaged (use another backup)'],
      ['', 'standard input is not a store backup (use a file written by "coffer store backup FILE")'],
    ] as const) {
      expect(await here.refused('store restore - --store restored', 1, { input })).toBe(`coffer: ${message}`);
      expect(existsSync(here.file('restored'))).toBe(false);
    }
  });

  it('needs a secret of the store in the backup, and a place without a store, as from a file', async () => {
    const { bytes: input } = await here.run('store backup -');
    expect(await here.refused('store restore -', 6, { input })).toContain('already');
    const locked = await here.run('store restore - --store restored', {
      input,
      environment: { COFFER_MASTER_KEY: undefined },
    });
    expect([locked.exitCode, existsSync(here.file('restored'))]).toEqual([4, false]);
    expect(locked.stderr).toContain('--unverified');
  });
});

describe('a command that writes to a file of which the name is given', () => {
  it.each([
    'store backup -',
    'sign x --key orders --manifest -',
    'keygen --out -',
    'transit encrypt fresh x --out -',
    'transit keys public orders --out -',
    'transit envelope encrypt fresh --in x --out -',
    'read transit/keys/orders --out -',
    'tags export --org o --out -',
    'policy who encrypt --out -',
  ])('never names a file "-": %s', async (line) => {
    await here.ok('transit keys create orders --type ed25519');
    writeFileSync(here.file('x'), 'x');
    await here.run(line);
    expect(readdirSync(here.directory).filter((name) => name.startsWith('-'))).toEqual([]);
  });

  it('says where only a file will do', async () => {
    writeFileSync(here.file('x'), 'x');
    expect(await here.refused('sign x --key orders --manifest -', 2)).toBe(
      'coffer: --manifest: the manifest cannot be written to standard output (use the name of a file; ./- for a file with this name)',
    );
  });
});

describe('coffer store verify', () => {
  it('reads a backup from a file or a pipe with its secret, and writes nothing', async () => {
    await here.ok('store backup backup');
    const before = readdirSync(here.directory);
    expect((await here.run('store verify backup')).stderr).toMatch(
      /^The backup is complete and undamaged \(\d+ files\)\.\n$/,
    );
    expect(JSON.parse(await here.ok('store verify backup -o json'))).toMatchObject({
      files: expect.any(Number),
    });
    expect((await here.shell('coffer store verify - < backup')).exitCode).toBe(0);
    expect(readdirSync(here.directory)).toEqual(before);
    const refusal = await here.with({ COFFER_MASTER_KEY: undefined }).refused('store verify backup', 4);
    expect(refusal).toContain('set COFFER_MASTER_KEY_FILE=FILE');
    expect(refusal).not.toContain('--unverified');
  });

  it('finds a flipped bit, a missing end, and damage that was copied into the backup', async () => {
    await here.ok('store backup backup');
    const whole = readFileSync(here.file('backup'));
    const flipped = Buffer.from(whole.map((byte, at) => (at === whole.length >> 1 ? byte ^ 1 : byte)));
    for (const [name, bytes, fault] of [
      ['flipped', flipped, 'is damaged'],
      ['cut', whole.subarray(0, whole.length - 100), 'ends too early: it is cut off or damaged'],
    ] as const) {
      writeFileSync(here.file(name), bytes);
      expect(await here.refused(`store verify ${name}`, 1)).toBe(
        `coffer: ${name} ${fault} (use another backup)`,
      );
    }
    await here.ok('transit keys create one');
    await here.ok('rekey');
    const documents = readdirSync(here.file('store'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.includes('documents') && statSync(here.file(`store/${name}`)).isFile(),
    );
    for (const name of documents) writeFileSync(here.file(`store/${name}`), 'damaged');
    await here.ok('store backup copied --unverified');
    expect((await here.run('store verify copied')).exitCode).toBe(1);
  });

  it.each(['verify -', 'restore - --store restored'])(
    'stops to read what is no backup: store %s',
    async (words) => {
      const { stderr } = await here.shell(
        `head -c 50000000 /dev/zero | coffer store ${words}; echo "status \${PIPESTATUS[*]}" >&2`,
      );
      expect(stderr).toContain('standard input is not a store backup');
      // The writer was told by SIGPIPE that nobody reads on.
      expect(stderr).toContain('status 141 1');
    },
  );
});
