import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DirectoryHere } from './directory-here.ts';
import { promptsDouble } from './streams.double.ts';

describe('a file in the format of age', () => {
  it('is opened by no file without a key, and by no key of a type that age does not know', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('transit keys create paper --type x25519');
    here.write('plain', 'text');
    await here.ok('transit envelope encrypt --recipient paper --in plain --out plain.age');
    expect(await here.ok('transit envelope decrypt paper --in plain.age')).toBe('text');
    expect(await here.refused('transit envelope decrypt app --in plain.age', 2)).toContain(
      'coffer: NAME: key "app" cannot decrypt age files: its type is aes256-gcm96 (omit the name to try all keys)',
    );
    for (const content of ['', '# only\n\n  # comments\n', 'AGE-SECRET-KEY\n', '# a\nsome text\n']) {
      writeFileSync(here.file('keys'), content, { mode: 0o600 });
      const line = 'transit envelope decrypt --identity keys --in plain.age';
      expect(await here.refused(line, 2)).toContain('coffer: --identity: no private key in keys');
    }
    expect(await here.refused('transit envelope rewrap --in plain.age', 2)).toContain(
      'coffer: --recipient: an age file does not list its recipients, so --recipient is required',
    );
  });
});

describe('a file with values that are encrypted one by one', () => {
  it('is named where an envelope is expected, with the command that decrypts it', async () => {
    const here = await DirectoryHere.withStore();
    here.write('.env', 'TOKEN=one\n');
    await here.ok('secrets encrypt .env --key app');
    const said = `coffer: .env is not a Coffer envelope (its values are encrypted one by one: run "coffer secrets decrypt .env --stdout")`;
    expect(await here.refused('transit envelope decrypt --in .env', 1)).toBe(said);
    expect(await here.refused('transit envelope header --in .env', 1)).toBe(said);
    here.write('plain', 'text');
    expect(await here.refused('transit envelope decrypt --in plain', 1)).toBe(
      'coffer: plain is not a Coffer envelope (use a file written by "coffer transit envelope encrypt" or age)',
    );
  });
});

describe('a file before the key', () => {
  it('is refused with the right order', async () => {
    const here = await DirectoryHere.withStore();
    mkdirSync(here.file('sub'));
    for (const path of ['doc.txt', 'sub/doc.txt']) here.write(path, 'text');
    const order = 'the key comes first, then the file (run "coffer transit envelope encrypt';
    for (const [line, said] of [
      ['doc.txt orders', `no file orders: ${order} orders doc.txt")`],
      ['sub/doc.txt orders', `sub/doc.txt is a file, not a key: ${order} orders sub/doc.txt")`],
      ['sub/none', `sub/none is a path, not a key: ${order} KEY sub/none")`],
    ])
      expect(await here.refused(`transit envelope encrypt ${line}`, 2)).toBe(`coffer: ${said}`);
  });

  it('is refused without --in in the message, if nobody typed it', async () => {
    const here = await DirectoryHere.withStore();
    const said = 'cannot read none: no such file';
    expect(await here.refused('transit envelope encrypt orders none', 2)).toBe(`coffer: ${said}`);
    expect(await here.refused('transit envelope encrypt orders --in none', 2)).toBe(`coffer: --in: ${said}`);
  });

  it('is refused beside values of a file, with --key, unless a rule names the key', async () => {
    const here = await DirectoryHere.withStore();
    here.write('.env', 'TOKEN=one\n');
    for (const line of ['.env app', 'app .env'])
      expect(await here.refused(`secrets encrypt ${line}`, 2)).toBe(
        'coffer: no file app: a key is given with --key (run "coffer secrets encrypt .env --key app")',
      );
    here.write('.coffer.yaml', 'rules:\n  - files: .env\n    key: app\n');
    expect(await here.refused('secrets encrypt .env app', 2)).toContain('cannot read app: no such file');
  });
});

describe('a key that is named by a path', () => {
  it('is said to be a file that is missing where no such file is, and a directory where it is one', async () => {
    const here = await DirectoryHere.withStore();
    for (const name of ['./none', 'none/file.coffer'])
      expect(await here.refused(['transit', 'envelope', 'decrypt', name], 2)).toContain(
        `coffer: cannot read ${name}: no such file`,
      );
    mkdirSync(here.file('folder'));
    expect(await here.refused('transit envelope decrypt ./folder', 2)).toContain('no files in ./folder');
  });
});

describe('the path of an export in the API of Vault', () => {
  it('is answered with the command', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('transit keys create orders --exportable');
    const refusal = await here.refused('transit keys export encryption-key orders', 2);
    expect(refusal).toContain('run "coffer transit keys export orders --key-type encryption-key"');
    expect(await here.ok('transit keys export orders --key-type encryption-key')).not.toBe('');
  });
});

describe('a plugin for Kubernetes', () => {
  it('is not started for a key that there is not, or that encrypts nothing', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('transit keys create signer --type ed25519');
    expect(await here.refused('kms --socket s --key none', 3)).toContain('none');
    expect(await here.refused('kms --socket s --key signer', 2)).toContain('signer');
  });
});

describe('the setup of a git repository', () => {
  it('is refused without rules, and where the configuration cannot be written', async () => {
    const here = DirectoryHere.make();
    for (const path of ['.git/objects', '.git/refs']) mkdirSync(here.file(path), { recursive: true });
    here.write('.git/HEAD', 'ref: refs/heads/main\n');
    expect(await here.refused('secrets git-setup', 3)).toMatch(
      /^coffer: no \.coffer\.yaml in \S+ \(create it/,
    );
    here.write('.coffer.yaml', 'rules:\n  - files: "*.env"\n    key: app\n');
    here.write('.git/config.lock', '');
    expect(await here.refused('secrets git-setup', 1)).toBe(
      'coffer: cannot set diff.coffer.textconv with git config',
    );
  });
});

describe('several tags', () => {
  it('are attached to no workspace if one of the workspaces does not exist', async () => {
    const here = await DirectoryHere.withStore({ COFFER_ORG: 'acme' });
    await here.ok('orgs create acme');
    await here.ok('tags create red blue');
    await here.ok('workspaces create web');
    expect(await here.refused('tags attach red blue --workspace web none', 3)).toMatch(/^coffer: .*none/);
    expect(await here.ok('tags of web')).toBe('');
  });

  it('are named in the question before unused ones are deleted: five, and the number of the others', async () => {
    const here = await DirectoryHere.withStore({ COFFER_ORG: 'acme' });
    await here.ok('orgs create acme');
    await here.ok('tags create t1 t2 t3 t4 t5');
    const asked = async (): Promise<readonly string[]> => {
      const prompts = promptsDouble([false]);
      await here.run('tags prune --unused', { prompts });
      return prompts.asked;
    };
    expect(await asked()).toEqual([
      'Delete 5 unused tags (t1, t2, t3, t4, t5)? This cannot be undone; keep a copy first with "coffer tags export".',
    ]);
    await here.ok('tags create t6');
    expect(await asked()).toEqual([
      'Delete 6 unused tags (t1, t2, t3, t4, t5 and 1 more)? This cannot be undone; keep a copy first with "coffer tags export".',
    ]);
  });
});

describe('a tag that is renamed', () => {
  it('is asked about before it is merged into another one, and not where both names are its own', async () => {
    const here = await DirectoryHere.withStore({ COFFER_ORG: 'acme' });
    await here.ok('orgs create acme');
    await here.ok('tags create prod prd');
    const asked = async (line: string): Promise<readonly string[]> => {
      const prompts = promptsDouble([false, false]);
      await here.run(line, { prompts });
      return prompts.asked;
    };
    expect(await asked('tags rename prd prod --merge')).toEqual([
      'Merge prd into prod? prd is deleted. Keys with prd get prod, too. This cannot be undone; keep a copy first with "coffer tags export". That has no tags of keys; "coffer store backup FILE" on a local store has everything.',
    ]);
    expect(await asked('tags rename prod PROD --merge')).toEqual([]);
  });
});

describe('a value of a file', () => {
  it('is empty by an empty file that is named', async () => {
    const here = await DirectoryHere.withStore();
    here.write('empty', '');
    await here.ok('secrets set a.env A --key app --in empty');
    expect(await here.ok('secrets get a.env A')).toBe('');
  });
});

describe('a missing name of a key', () => {
  it.each([
    [57, `keys: app, ${'z'.repeat(57)}; usage:`],
    [58, 'keys: app and 1 more; usage:'],
  ])('is answered with names of up to 60 characters in all: one of %i', async (length, said) => {
    const here = await DirectoryHere.withStore({ NO_COLOR: '1' });
    await here.ok(`transit keys create ${'z'.repeat(length)}`);
    const { exitCode, err } = await here.run('transit keys read', {
      terminals: ['in', 'out', 'err'],
      columns: 500,
    });
    expect({ exitCode, err }).toEqual({ exitCode: 2, err: expect.stringContaining(said) as string });
  });
});

describe('a value that is missing', () => {
  it('of a file without values has no hint', async () => {
    const here = await DirectoryHere.withStore();
    here.write('a.env', '# nothing\n');
    expect(await here.refused('secrets get a.env A', 3)).toBe('coffer: a.env has no value A');
  });
});

describe('a check of the next commit', () => {
  it('fails for rules and files that are too large to be read', async () => {
    const here = DirectoryHere.make();
    const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: here.path });
    git('init', '-q');
    here.write('.coffer.yaml', 'rules:\n  - files: "*.env"\n    key: app\n');
    here.write('a.env', `A=${'x'.repeat(2 ** 20)}\n`);
    git('add', 'a.env', '.coffer.yaml');
    expect((await here.run('secrets check --staged')).err).toContain('a.env is larger than 1 MiB');
    expect((await here.run('secrets check --staged')).exitCode).not.toBe(0);
    here.write('.coffer.yaml', '#'.repeat(2 ** 20 + 1));
    git('add', '.coffer.yaml');
    here.write('.coffer.yaml', 'rules:\n  - files: "*.env"\n    key: app\n    except: "*"\n');
    expect(await here.refused('secrets check --staged', 2)).toBe('coffer: .coffer.yaml is larger than 1 MiB');
  });
});

describe('a status', () => {
  it('is told of a store that a wrong secret does not unlock, and not with a secret that can be none', async () => {
    const here = await DirectoryHere.withStore();
    const wrong = { environment: { COFFER_MASTER_KEY: Buffer.alloc(32, 8).toString('base64') } };
    expect((await here.run('status', wrong)).out).toMatch(/^state\tlocked\n/);
    const none = { environment: { COFFER_MASTER_KEY: 'none' } };
    expect(await here.refused('status', 2, none)).toContain('COFFER_MASTER_KEY');
  });
});

describe('who may do something with a key', () => {
  it('is not asked for an operation that there is not', async () => {
    const here = await DirectoryHere.withStore();
    expect(await here.refused('policy who --key app --operation zzzzzzzz', 2)).toContain(
      'coffer: --operation: unknown operation "zzzzzzzz" (use a command of "coffer transit"',
    );
    expect(await here.refused('policy who --key app --operation decrypd', 2)).toContain(
      'did you mean "decrypt"',
    );
  });
});

describe('a public key to verify with', () => {
  it('that is typed and is none is called none by its text, and one without spaces may have been meant as a file', async () => {
    const here = await DirectoryHere.withStore();
    here.write('f', 'text');
    here.write('f.sig', 'x');
    const verify = (key: string) => here.refused(['verify', 'f', 'f.sig', '--public-key', key], 2);
    expect(await verify('nowhere.pub')).toContain('"nowhere.pub" is neither a file nor a public key');
    for (const key of ['ssh-ed25519 AAAA', '{"kty":"none"}', '-----BEGIN PUBLIC KEY-----\nAAAA\n'])
      expect(await verify(key)).not.toContain('neither a file');
  });
});
