import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isGroup, type Node } from '../../src/cli/command.ts';
import { commandTree } from '../../src/cli/tree.ts';
import type { StreamsSetup } from '../cli/streams.double.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { typedAt } from './typed.ts';

/* Files that users mean, and files that hold plaintext after a command. */

let here: Place;
beforeAll(async () => {
  here = emptyPlace().with({ COFFER_MASTER_KEY: MASTER_KEY });
  for (const line of ['init', 'transit keys create orders', 'transit keys create app']) await here.ok(line);
});
afterAll(() => removePlace(here));

/** Runs a command in this process as if typed at a terminal, all of whose files have whole paths. */
const typed = (line: string, terminals: NonNullable<StreamsSetup['terminals']> = ['in', 'out', 'err']) =>
  typedAt(here, line, { terminals });

describe('a value that is the name of a file', () => {
  it('is encrypted as a text, with a warning that names --in, and in scripts does not repeat the text', async () => {
    const file = here.file('card.txt');
    writeFileSync(file, 'the content');
    const said = `not as the name of a file (for the content of the file, use --in ${file})`;
    const { stderr: err } = await typed(`transit encrypt orders ${file}`);
    expect(err.replaceAll(/\s+/g, ' ')).toContain(said);
    expect((await here.run(['transit', 'encrypt', 'orders', file])).stderr).toBe(
      'coffer: warning: the plaintext is also the name of a file, and was taken as text (for the content of the file, use --in FILE)\n',
    );
    // Scripts compute these of texts of any kind.
    expect((await here.run(['transit', 'hmac', 'orders', file])).stderr).toBe('');
    expect((await here.run(['transit', 'hash', file])).stderr).toBe('');
    expect((await typed('transit encrypt orders hello')).stderr).not.toContain('warning');
  });
});

describe('a value with the name of a parameter, as Vault takes it', () => {
  it.each([
    ['transit encrypt orders', 'plaintext'],
    ['transit hmac orders', 'input'],
    ['transit hash', 'input'],
  ])('is taken as it is, with a warning: %s', async (line, param) => {
    const said = `"${param}=" at the beginning of the value was taken as part of the text`;
    expect((await here.run(`${line} ${param}=aGk=`)).stderr).toContain(said);
    expect((await here.run(`${line} aGk=`)).stderr).toBe('');
  });
});

describe('standard input in the place of a file with secrets', () => {
  it('is decrypted as a file of its format, and otherwise answered with what to type', async () => {
    writeFileSync(here.file('x.env'), '# c\nA=1\n');
    await here.ok('secrets encrypt --key app x.env');
    const input = readFileSync(here.file('x.env'), 'utf8');
    const decrypted = await here.run('secrets decrypt - --format dotenv', { input });
    expect(decrypted).toMatchObject({ exitCode: 0, stdout: '# c\nA=1\n', stderr: '' });
    expect(await here.refused('secrets decrypt -', 2, { input })).toBe(
      'coffer: --format: cannot tell the format of standard input (use --format dotenv|yaml|json)',
    );
    expect(await here.refused('secrets decrypt - x.env', 2, { input })).toContain(
      'cannot be combined with other files',
    );
    for (const line of [
      'secrets rewrap -',
      'secrets get - A',
      'secrets set - A v --format dotenv --key app',
      'edit -',
    ])
      expect(await here.refused(line, 2, { input })).toContain(
        'standard input (-) is not accepted here (name a file; "coffer secrets decrypt - --format dotenv" reads',
      );
    expect(existsSync(here.file('-'))).toBe(false);
  });

  it('is encrypted into a pipe as a file of its format, and decrypts to every byte of it', async () => {
    const input = '# c\nA=1\nB="two words"\n';
    const encrypted = await here.run('secrets encrypt - --format dotenv --key app', { input });
    expect(encrypted).toMatchObject({ exitCode: 0, stderr: '' });
    expect(encrypted.stdout).toMatch(/^# c\nA=coffer:app:v1:\S+\nB=coffer:app:v1:\S+\n$/);
    expect(await here.run('secrets decrypt - --format dotenv', { input: encrypted.stdout })).toMatchObject({
      exitCode: 0,
      stdout: input,
      stderr: '',
    });
    expect(existsSync(here.file('-'))).toBe(false);
  });
});

/** File in the working directory of the tests, whose name could be that of a key. */
const FILE = 'README.md';

/** Returns the words of the commands below a node that take a key and an input. */
async function takingKeyAndInput(node: Node, path: readonly string[] = []): Promise<readonly string[]> {
  if (isGroup(node)) {
    const children = Object.entries(node.children);
    return (
      await Promise.all(children.map(([word, child]) => takingKeyAndInput(child, [...path, word])))
    ).flat();
  }
  const {
    arguments: [first],
    options,
  } = await node.load();
  return first?.offers === 'key' && options.some(({ flag }) => flag === 'in') ? [path.join(' ')] : [];
}

/** Commands that read no input unless one is named, and `import`, which can create a key from nothing. */
const READING_NOTHING = ['transit keys csr', 'transit import-version'];

describe('a file in the place of a key', () => {
  it('is refused by every command that would wait for the terminal', async () => {
    const commands = await takingKeyAndInput(commandTree);
    expect(commands).toEqual(expect.arrayContaining(['transit encrypt', 'transit hmac', 'transit verify']));
    for (const command of commands.filter((line) => !READING_NOTHING.includes(line))) {
      const { stderr } = await typed(`${command} ${FILE}${command === 'transit reencrypt' ? ' orders' : ''}`);
      expect({ command, said: stderr.replaceAll(/\s+/g, ' ') }).toEqual({
        command,
        said: expect.stringMatching(
          /README\.md (?:is a file, and no key has|is not a Coffer envelope|with )/,
        ),
      });
    }
    expect(await here.ok('transit keys list')).toBe('app\norders');
  });

  it.each([
    ['encrypt', 'README.md', 2, '(keys: app, orders; run "coffer transit envelope encrypt KEY README.md")'],
    ['encrypt', './README.md', 2, 'run "coffer transit envelope encrypt KEY ./README.md"'],
    ['encrypt', 'package.json', 2, 'or "coffer secrets encrypt package.json" to encrypt only its values'],
    ['decrypt', 'README.md', 3, 'run "coffer transit envelope decrypt --in README.md"'],
    ['rewrap', 'README.md', 3, 'run "coffer transit envelope rewrap --in README.md"'],
    ['sign', 'README.md', 3, 'run "coffer transit sign KEY --in README.md"'],
  ])('is answered with the command that takes it: %s %s', async (verb, file, exitCode, command) => {
    const result = await typed(`transit ${verb} ${file}`);
    const said = result.stderr.replaceAll(/\s+/g, ' ');
    expect({ exitCode: result.exitCode, said }).toEqual({ exitCode, said: expect.stringContaining(command) });
  });

  it('has the only key in its command, or the command that creates the first one', async () => {
    const place = here.with({ COFFER_STORE: here.file('other-store') });
    await place.ok('init');
    const said = async (line: string) => (await typedAt(place, line)).stderr.replaceAll(/\s+/g, ' ');
    expect(await said(`transit encrypt ${FILE}`)).toContain(
      '(first create a key with "coffer transit keys create app"; run "coffer transit envelope encrypt app README.md")',
    );
    await place.ok('transit keys create only');
    for (const line of ['transit encrypt', 'transit envelope encrypt', 'encrypt'])
      expect(await said(`${line} ${FILE}`)).toContain('"coffer transit envelope encrypt only README.md"');
  });

  it('is refused by a script that gives nothing to encrypt, and is a key if it gives something', async () => {
    writeFileSync(here.file('card'), 'a file');
    expect(await here.refused('transit encrypt card', 2)).toMatch(
      /^coffer: card is a file, and no key has this name/,
    );
    expect(await here.refused('transit decrypt card', 3)).toMatch(
      /^coffer: card is a file, and no key has this name/,
    );
    expect(await here.ok('transit encrypt nofile')).toMatch(/^service:v1:/);
    expect(await here.ok('transit encrypt card', { input: '4242' })).toMatch(/^service:v1:/);
    expect(await here.ok('transit encrypt card')).toMatch(/^service:v1:/);
  });

  it('is decrypted, shown and rewrapped, as with --in', async () => {
    writeFileSync(here.file('report'), 'for your eyes');
    await here.ok('transit envelope encrypt orders --in report --out report.coffer');
    expect(await here.ok('transit envelope decrypt report.coffer')).toBe('for your eyes');
    expect(await here.ok('transit envelope decrypt ./report.coffer')).toBe('for your eyes');
    expect(await here.ok('transit envelope header report.coffer')).toContain('orders');
    await here.ok('transit envelope rewrap report.coffer');
    writeFileSync(here.file('report.enc'), readFileSync(here.file('report.coffer')));
    expect((await typed(`transit envelope decrypt ${here.file('report.enc')}`)).stdout).toBe(
      'for your eyes\n',
    );
  });

  it('is taken in a script, or answered with a command that works in one', async () => {
    writeFileSync(here.file('memo'), 'for your eyes');
    await here.ok('transit envelope encrypt orders --in memo --out memo.enc');
    /** Returns the command of the hint, and what it does: the exit code and the output. */
    const followed = async (line: string, exitCode = 2) => {
      const command = /"coffer (transit [^"]+)"/.exec(await here.refused(line, exitCode))?.[1] ?? '';
      const result = await here.run(command.replace('KEY', 'app'));
      return { command, exitCode: result.exitCode, stdout: result.stdout };
    };
    const decrypting = {
      command: 'transit envelope decrypt --in memo.enc',
      exitCode: 0,
      stdout: 'for your eyes',
    };
    for (const line of [
      'transit decrypt orders memo.enc',
      'decrypt memo.enc',
      'decrypt orders memo.enc',
      'transit envelope decrypt orders memo.enc',
    ])
      expect({ line, ...(await followed(line)) }).toEqual({ line, ...decrypting });
    expect(await followed('transit decrypt memo.enc', 3)).toEqual(decrypting);
    expect(await here.ok('transit envelope decrypt memo.enc')).toBe('for your eyes');
    expect(await here.ok('transit envelope header memo.enc')).toContain('orders');
    const rewrapping = { command: 'transit envelope rewrap --in memo.enc', exitCode: 0, stdout: '' };
    expect(await followed('transit rewrap memo.enc', 3)).toEqual(rewrapping);
    await here.ok('transit envelope rewrap memo.enc');
    expect(await followed('transit encrypt memo')).toMatchObject({
      command: 'transit envelope encrypt KEY memo',
      exitCode: 0,
    });
  });

  it('is a key, if there is no such file or data are piped in', async () => {
    const input = readFileSync(here.file('report.coffer'));
    writeFileSync(here.file('orders'), 'a file with the name of a key');
    expect((await here.run('transit envelope decrypt orders', { input })).stdout).toBe('for your eyes');
    expect((await here.run('transit envelope decrypt app', { input })).exitCode).not.toBe(0);
  });
});

describe('"secrets decrypt"', () => {
  const encrypted = async (): Promise<string> => {
    writeFileSync(here.file('.env'), 'A=one\nB=two\n');
    await here.ok('secrets encrypt .env --key app');
    return readFileSync(here.file('.env'), 'utf8');
  };

  it('prints a file with --stdout, and leaves the file as it is', async () => {
    const before = await encrypted();
    expect((await here.run('secrets decrypt .env --stdout')).stdout).toBe('A=one\nB=two\n');
    expect(await here.json('secrets decrypt .env --stdout')).toEqual({ text: 'A=one\nB=two\n' });
    expect(readFileSync(here.file('.env'), 'utf8')).toBe(before);
    expect(await here.refused('secrets decrypt .env .env --stdout', 2)).toContain('takes a single file');
  });

  it('says on a terminal what is readable now, with the command that encrypts it again', async () => {
    await encrypted();
    const { stderr: err } = await typed(`secrets decrypt ${here.file('.env')}`);
    const said = err.replaceAll(/\s+/g, ' ');
    expect(said).toContain('now contains plaintext; to encrypt it again, run "coffer secrets encrypt');
    const [, command = ''] = /"coffer ([^"]+)"/.exec(said) ?? [];
    await here.ok(command);
    expect(readFileSync(here.file('.env'), 'utf8')).toContain('A=coffer:app:v1:');
  });

  it('says to a person with a pipe that it changed the file and printed nothing, and nothing to scripts', async () => {
    await encrypted();
    const line = `secrets decrypt ${here.file('.env')}`;
    const piped = (more = '') => typed(`${line}${more}`, ['in', 'err']);
    const said = 'in place and printed nothing; use --stdout to print a file instead.';
    const { stdout, stderr } = await piped();
    expect([stdout, stderr.replaceAll(/\s+/g, ' ')]).toEqual(['', expect.stringContaining(said)]);
    expect(readFileSync(here.file('.env'), 'utf8')).toBe('A=one\nB=two\n');
    expect((await piped()).stderr).not.toContain('printed nothing');
    for (const more of [' --quiet', ' --stdout', ' -o json']) {
      await encrypted();
      expect((await piped(more)).stderr).not.toContain('printed nothing');
    }
    await encrypted();
    expect(await here.run(line)).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
  });
});

describe('a key whose name is too long for that of a file', () => {
  it('is used like any other', async () => {
    const name = 'k'.repeat(300);
    await here.ok(`transit keys create ${name}`);
    const ciphertext = await here.ok(`transit encrypt ${name}`, { input: 'hello' });
    expect(await here.ok(`transit decrypt ${name}`, { input: ciphertext })).toBe('hello');
    const envelope = await here.run(`transit envelope encrypt ${name}`, { input: 'hello' });
    expect(envelope.exitCode).toBe(0);
    expect((await typed(`transit envelope encrypt ${name}x`, ['in', 'out', 'err'])).stderr).not.toContain(
      'stat',
    );
  });
});

describe('a signature of the name of a file', () => {
  it.each(['sign releases', 'verify releases --signature vault:v1:AAAA'])(
    'is warned of in scripts: %s',
    async (line) => {
      await here.run('transit keys create releases --type ed25519');
      const file = here.file('card.txt');
      expect((await here.run(['transit', ...line.split(' '), file])).stderr).toContain(
        'coffer: warning: the input is also the name of a file, and was taken as text (for the content of the file, use --in FILE)\n',
      );
    },
  );
});
