import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { base64 } from '../harness.ts';
import type { Suite } from './index.ts';

const CHUNK = 65_536;

export const envelopesSuite: Suite = (here) => {
  const make = (name: string, size = 100_000): Buffer => {
    const bytes = randomBytes(size);
    writeFileSync(here().file(name), bytes);
    return bytes;
  };
  const read = (name: string): Buffer => readFileSync(here().file(name));
  const newKey = async (name: string, more = ''): Promise<void> => {
    await here().ok(`transit keys create ${name}${more}`);
  };

  describe('files', () => {
    it('are written for their owner alone, and name their key themselves', async () => {
      await newKey('files');
      const plaintext = make('f.bin');
      await here().ok('transit envelope encrypt files --in f.bin --out f.bin.coffer');
      await here().ok('transit envelope decrypt --in f.bin.coffer --out f.again');
      expect(read('f.again').equals(plaintext)).toBe(true);
      for (const name of ['f.bin.coffer', 'f.again'])
        expect(statSync(here().file(name)).mode & 0o777).toBe(0o600);
    });

    it('that are damaged leave no output, and an older one as it was', async () => {
      await newKey('damaged');
      make('d.bin', 5 * CHUNK);
      await here().ok('transit envelope encrypt damaged --in d.bin --out d.coffer');
      const bytes = read('d.coffer');
      bytes.writeUInt8(bytes.readUInt8(bytes.length - CHUNK - 99) ^ 1, bytes.length - CHUNK - 99);
      writeFileSync(here().file('d.coffer'), bytes);
      writeFileSync(here().file('older'), 'older');
      for (const name of ['fresh', 'older']) {
        expect(
          await here().refused(`transit envelope decrypt --in d.coffer --out ${name} --force`, 4),
        ).toContain('the envelope is damaged: chunk 3 was changed or moved, or is from another file');
      }
      expect(existsSync(here().file('fresh'))).toBe(false);
      expect(read('older').toString()).toBe('older');
      expect((await here().shell('ls -a | grep tmp')).stdout).toBe('');
    });

    it('of another key than the one expected are refused', async () => {
      await newKey('mine');
      make('m.bin', 10);
      await here().ok('transit envelope encrypt mine --in m.bin --out m.coffer');
      for (const verb of ['decrypt', 'header', 'rewrap']) {
        expect(await here().refused(`transit envelope ${verb} other --in m.coffer`, 4)).toBe(
          'coffer: the envelope is encrypted under key "mine", not "other" (omit the key name, to use the key that the header names)',
        );
      }
    });

    it('are refused when there is no such key, or no such file', async () => {
      make('n.bin', 10);
      expect(await here().refused('transit envelope encrypt nowhere --in n.bin --out n.coffer', 3)).toContain(
        'key "nowhere" not found',
      );
      expect(existsSync(here().file('n.coffer'))).toBe(false);
      await newKey('nofile');
      expect(await here().refused('transit envelope encrypt nofile --in missing --out x', 2)).toContain(
        'no such file',
      );
      expect(await here().refused('transit envelope decrypt --in n.bin --out x', 1)).toContain(
        'coffer: n.bin is not a Coffer envelope (use a file written by "coffer transit envelope encrypt" or age)',
      );
    });

    it('are never read and written at once', async () => {
      await newKey('same');
      make('same.bin', 10);
      expect(await here().refused('transit envelope encrypt same --in same.bin --out same.bin', 2)).toContain(
        'input and output are the same file',
      );
    });

    it('under a derived key need its context', async () => {
      await newKey('derived', ' --derived');
      const plaintext = make('c.bin', 1000);
      await here().ok('transit envelope encrypt derived --context-text tenant --in c.bin --out c.coffer');
      await here().ok(`transit envelope decrypt --context ${base64('tenant')} --in c.coffer --out c.again`);
      expect(read('c.again').equals(plaintext)).toBe(true);
      expect(
        (await here().run('transit envelope decrypt --context-text other --in c.coffer')).exitCode,
      ).not.toBe(0);
      expect((await here().run('transit envelope decrypt --in c.coffer')).exitCode).not.toBe(0);
    });

    it('name the mount of their key, too; a mount that is named wins', async () => {
      await here().ok('mounts add team-a');
      await here().ok('mounts add team-b');
      await here().ok('transit keys create own --mount team-a');
      await here().ok('transit keys create own --mount team-b');
      const plaintext = make('o.bin', 1000);
      await here().ok('transit envelope encrypt own --mount team-a --in o.bin --out o.coffer');
      await here().ok('transit envelope decrypt --in o.coffer --out o.again');
      expect(read('o.again').equals(plaintext)).toBe(true);
      expect((await here().run('transit envelope decrypt --mount team-b --in o.coffer')).exitCode).not.toBe(
        0,
      );
    });
  });

  describe('headers', () => {
    it('show key, version, metadata and size, authenticated on request', async () => {
      await newKey('headed');
      make('h.bin', 70_000);
      await here().ok(
        'transit envelope encrypt headed --in h.bin --out h.coffer --metadata host=db-1 note=a=b',
      );
      const shown = {
        in: 'h.coffer',
        format: 1,
        algorithm: 'aes-256-gcm',
        mount: 'transit',
        name: 'headed',
        key_version: 1,
        ciphertext: expect.stringMatching(/^service:v1:/),
        chunk_size: 65_536,
        metadata: { host: 'db-1', note: 'a=b' },
        size: 70_000,
        verified: false,
      };
      expect(await here().json('transit envelope header --in h.coffer')).toEqual(shown);
      expect(await here().json('transit envelope header headed --verify --in h.coffer')).toEqual({
        ...shown,
        verified: true,
      });
      const piped = await here().run('transit envelope header -o json', {
        input: read('h.coffer').subarray(0, 1000),
      });
      expect(JSON.parse(piped.stdout)).toEqual({ ...shown, in: '-', size: null });
    });

    it('that were changed are shown, but not as verified', async () => {
      await newKey('forged');
      make('g.bin', 10);
      await here().ok('transit envelope encrypt forged --in g.bin --out g.coffer --metadata paid=no!');
      writeFileSync(
        here().file('g.coffer'),
        read('g.coffer').toString('latin1').replace('no!', 'yes'),
        'latin1',
      );
      expect(await here().json('transit envelope header --in g.coffer')).toMatchObject({
        metadata: { paid: 'yes' },
      });
      expect(await here().refused('transit envelope header --verify --in g.coffer', 4)).toContain(
        'the header of the envelope was changed',
      );
    });

    it('take no metadata that would disturb a terminal', async () => {
      await newKey('meta');
      make('t.bin', 10);
      const words = ['transit', 'envelope', 'encrypt', 'meta', '--in', 't.bin', '--metadata', 'a=\u001b[2J'];
      expect(await here().refused(words, 2)).toContain('holds a control character');
    });
  });

  describe('rewrap', () => {
    it('moves files to the latest version, so that the old one can be deleted', async () => {
      await newKey('moving');
      const plaintext = make('r.bin', 200_000);
      await here().ok('transit envelope encrypt moving --in r.bin --out r.coffer');
      await here().ok('transit keys rotate moving');
      const before = read('r.coffer');
      expect(await here().json('transit envelope rewrap --in r.coffer')).toEqual({
        files: [{ in: 'r.coffer', from: 1, to: 2 }],
      });
      expect(read('r.coffer').length).toBe(before.length);
      await here().ok('transit keys config moving --min-decryption-version 2 --min-encryption-version 2');
      await here().ok('transit keys trim moving --min-available-version 2 --yes');
      await here().ok('transit envelope decrypt --in r.coffer --out r.again');
      expect(read('r.again').equals(plaintext)).toBe(true);
      writeFileSync(here().file('old.coffer'), before);
      expect((await here().run('transit envelope decrypt --in old.coffer')).exitCode).not.toBe(0);
    });

    it('takes a directory, and goes on after a file that it cannot do', async () => {
      await newKey('many');
      mkdirSync(here().file('sealed/deep'), { recursive: true });
      for (const name of ['sealed/a', 'sealed/deep/b']) {
        make(name, 10);
        await here().ok(`transit envelope encrypt many --in ${name} --out ${name}.coffer`);
      }
      writeFileSync(here().file('sealed/bad.coffer'), 'not one');
      await here().ok('transit keys rotate many');
      const { exitCode, stderr } = await here().run('transit envelope rewrap many --in sealed');
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^coffer: sealed\/bad\.coffer: this is not a Coffer envelope[^\n]*\n$/);
      for (const name of ['sealed/a', 'sealed/deep/b']) {
        expect(await here().json(`transit envelope header --in ${name}.coffer`)).toMatchObject({
          key_version: 2,
        });
      }
    });

    it('needs a file', async () => {
      expect(await here().refused('transit envelope rewrap', 2)).toContain('name the files with --in');
    });
  });

  it.each([0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 16 * CHUNK, 5_000_000])(
    'of %i bytes come back from standard input and output',
    async (size) => {
      await newKey('flows');
      const plaintext = randomBytes(size);
      const sealed = await here().run('transit envelope encrypt flows', { input: plaintext });
      const opened = await here().run('transit envelope decrypt', { input: sealed.bytes });
      expect({ exitCode: opened.exitCode, stderr: opened.stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(opened.bytes.equals(plaintext)).toBe(true);
    },
  );

  describe('ranges', () => {
    it('are parts of the data, from a file and from a pipe', async () => {
      await newKey('ranged');
      const plaintext = make('p.bin', 10 * CHUNK);
      await here().ok('transit envelope encrypt ranged --in p.bin --out p.coffer');
      const range = `--offset ${CHUNK - 5} --length ${2 * CHUNK}`;
      const wanted = plaintext.subarray(CHUNK - 5, 3 * CHUNK - 5);
      expect((await here().run(`transit envelope decrypt --in p.coffer ${range}`)).bytes.equals(wanted)).toBe(
        true,
      );
      const piped = await here().run(`transit envelope decrypt ${range}`, { input: read('p.coffer') });
      expect(piped.bytes.equals(wanted)).toBe(true);
      expect(
        await here().refused(`transit envelope decrypt --in p.coffer --offset ${10 * CHUNK + 1}`, 2),
      ).toContain(`past the end of the decrypted data, which has ${10 * CHUNK} bytes`);
      expect(await here().refused('transit envelope decrypt --in p.coffer --offset x', 2)).toContain(
        'use a number of bytes',
      );
    });
  });

  describe('several files', () => {
    it('become files beside them and come back, and nothing is replaced unasked', async () => {
      await newKey('several');
      const [one, two] = [make('s1.bin'), make('s2.bin', 10)];
      const done = (await here().json('transit envelope encrypt several --in s1.bin --in s2.bin')) as {
        files: object[];
      };
      expect(done.files).toMatchObject([
        { in: 's1.bin', out: 's1.bin.coffer', bytes_read: 100_000, name: 'several', key_version: 1 },
        { in: 's2.bin', out: 's2.bin.coffer', bytes_read: 10 },
      ]);
      expect(await here().refused('transit envelope encrypt several --in s1.bin s2.bin', 6)).toContain(
        's1.bin.coffer already exists (use --force to overwrite it)',
      );
      await here().ok('transit envelope encrypt several --in s1.bin s2.bin --force');
      for (const name of ['s1.bin', 's2.bin']) rmSync(here().file(name));
      await here().ok('transit envelope decrypt --in s1.bin.coffer s2.bin.coffer');
      expect(read('s1.bin').equals(one)).toBe(true);
      expect(read('s2.bin').equals(two)).toBe(true);
    });

    it('of a directory keep their places in another one', async () => {
      await newKey('trees');
      mkdirSync(here().file('from/deep/er'), { recursive: true });
      const [one, two] = [make('from/one'), make('from/deep/er/two', 10)];
      await here().shell('ln -s /etc/passwd from/link');
      await here().ok('transit envelope encrypt trees --in from --out-dir to');
      expect((await here().shell('cd to && find . -type f | sort')).stdout).toBe(
        './deep/er/two.coffer\n./one.coffer\n',
      );
      await here().ok('transit envelope decrypt --in to --out-dir back');
      expect(read('back/one').equals(one)).toBe(true);
      expect(read('back/deep/er/two').equals(two)).toBe(true);
    });

    it('of a directory are those in it, not where links lead, nor in circles', async () => {
      await newKey('bounds');
      mkdirSync(here().file('given/deep'), { recursive: true });
      mkdirSync(here().file('beyond'));
      make('given/deep/one', 10);
      make('beyond/two', 10);
      await here().shell('ln -s ../beyond given/link && ln -s .. given/deep/up && ln -s . given/round');
      await here().ok('transit envelope encrypt bounds --in given');
      expect((await here().shell('find given beyond -name "*.coffer" | sort')).stdout).toBe(
        'given/deep/one.coffer\n',
      );
      await here().ok('transit envelope encrypt bounds --in beyond');
      const before = read('beyond/two.coffer');
      await here().ok('transit keys rotate bounds');
      await here().ok('transit envelope rewrap --in given');
      expect(read('beyond/two.coffer').equals(before)).toBe(true);
    });

    it('are refused together when their results would have one name, or none', async () => {
      await newKey('names');
      mkdirSync(here().file('x'));
      mkdirSync(here().file('y'));
      make('x/n', 1);
      make('y/n', 1);
      expect(await here().refused('transit envelope encrypt names --in x/n y/n --out-dir z', 2)).toContain(
        'x/n and y/n would both be written to z/n.coffer',
      );
      expect(await here().refused('transit envelope encrypt names --in x/n y/n --out z', 2)).toContain(
        'use --out-dir',
      );
      expect(await here().refused('transit envelope decrypt --in x/n y/n', 2)).toContain(
        'n does not end in .coffer',
      );
      expect(await here().refused('transit envelope encrypt names --in x/n -', 2)).toContain(
        '--out-dir cannot be used with standard input',
      );
      mkdirSync(here().file('empty'));
      expect(await here().refused('transit envelope encrypt names --in empty', 2)).toContain(
        '--in: no files in empty',
      );
      mkdirSync(here().file('done'));
      make('done/n.coffer', 1);
      expect(await here().refused('transit envelope encrypt names --in done', 2)).toContain(
        'no matching files in done (all files already end in .coffer or .age)',
      );
      mkdirSync(here().file('plain'));
      make('plain/n', 1);
      expect(await here().refused('transit envelope header --in plain', 2)).toContain(
        'no matching files in plain (no files end in .coffer or .age)',
      );
    });

    it('are not taken for the name of a key', async () => {
      await newKey('mistaken');
      const content = make('mistaken.txt', 1);
      await here().ok('transit envelope encrypt mistaken --in mistaken.txt --out mistaken.coffer');
      for (const command of ['header', 'rewrap'])
        await here().ok(`transit envelope ${command} mistaken.coffer`);
      expect((await here().run('transit envelope decrypt mistaken.coffer')).bytes).toEqual(content);
      expect(await here().refused('transit envelope encrypt ./mistaken.txt', 2)).toContain(
        './mistaken.txt is a file, not a key: the key comes first, then the file (run "coffer transit envelope encrypt KEY ./mistaken.txt")',
      );
    });

    it('are named when their names are no UTF-8', async () => {
      await newKey('latin');
      await here().shell("mkdir latin && touch latin/a && touch latin/$(printf '\\351')");
      const { exitCode, stderr } = await here().run('transit envelope encrypt latin --in latin');
      if (stderr === '') return; // Some file systems take no such names.
      expect({ exitCode, stderr }).toEqual({
        exitCode: 2,
        stderr: 'coffer: latin/\ufffd: cannot read latin/\ufffd: its name is not UTF-8\n',
      });
      expect(existsSync(here().file('latin/a.coffer'))).toBe(true);
    });

    it('are refused where their directory cannot be made', async () => {
      await newKey('homeless');
      make('homeless.txt', 1);
      make('file', 1);
      expect(
        await here().refused('transit envelope encrypt homeless --in homeless.txt --out-dir file/below', 2),
      ).toBe('coffer: --out-dir: cannot write file/below: part of the path is not a directory');
    });

    it('are done although one of them fails', async () => {
      await newKey('mixed');
      const plaintext = make('good', 10);
      await here().ok('transit envelope encrypt mixed --in good --out good.coffer');
      rmSync(here().file('good'));
      writeFileSync(here().file('bad.coffer'), 'not one');
      const { exitCode, stderr } = await here().run('transit envelope decrypt --in bad.coffer good.coffer');
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^coffer: bad\.coffer: this is not a Coffer envelope[^\n]*\n$/);
      expect(read('good').equals(plaintext)).toBe(true);
    });
  });

  it('never mixes a report into the data', async () => {
    await newKey('report');
    expect(await here().refused('transit envelope encrypt report -o json', 2, { input: 'x' })).toContain(
      '-o json cannot be used when the data goes to standard output',
    );
  });
};
