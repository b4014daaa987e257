import { describe, expect, it } from 'vitest';
import { madeOnce } from '../e2e/kept-directory.ts';
import { DirectoryHere } from './directory-here.ts';
import { commandsIn, type Filled, pasted } from './pasted.ts';

/* What users of pass, gpg, sops, age and vault type: each answer is a command that works when it is pasted. */

const FILLED: Filled = { NAME: 'releases', FILE: 'app.yaml', KEY: 'app', NEW: 'db2' };

const prepared = madeOnce(
  async () => {
    const here = await DirectoryHere.withStore();
    here.write('app.yaml', 'db: secret\nuser: ada\n');
    here.write('f.txt', 'text\n');
    here.write('audit.log', '');
    here.write('plain.yaml', 'db: secret\n');
    await here.ok('secrets encrypt app.yaml --key app');
    await here.ok('transit keys create releases --type ed25519');
    await here.ok('transit keys create inbox --type x25519');
    await here.ok('sign f.txt --key releases --namespace file');
    await here.ok('transit envelope encrypt app f.txt --out f.txt.coffer');
    await here.ok('transit envelope encrypt app f.txt --out whole.yaml');
    return here;
  },
  ({ path }) => path,
);

const plain = (here: DirectoryHere): boolean => here.read('app.yaml').includes('secret');

describe('a command line of another program', () => {
  it.each([
    ['decrypt app.yaml', 'secrets decrypt app.yaml --stdout'],
    ['decrypt -d app.yaml', 'secrets decrypt app.yaml --stdout'],
    ['-d app.yaml', 'secrets decrypt app.yaml --stdout'],
    ['--decrypt app.yaml', 'secrets decrypt app.yaml --stdout'],
    ['secrets decrypt -d app.yaml', 'secrets decrypt app.yaml --stdout'],
    ['transit envelope decrypt --in app.yaml', 'secrets decrypt app.yaml --stdout'],
    ['decrypt --extract ["db"] app.yaml', 'secrets get app.yaml db'],
    ['-d --extract ["db"] app.yaml', 'secrets get app.yaml db'],
    ['secrets decrypt --extract ["db"] app.yaml', 'secrets get app.yaml db'],
    ['cat app.yaml', 'secrets list app.yaml'],
    ['view app.yaml', 'secrets list app.yaml'],
  ])(
    'shows a value, and leaves the file encrypted, by the command that is named: %s',
    async (line, first) => {
      const here = await prepared();
      const { err } = await here.run(line);
      const commands = commandsIn(err).filter((command) => !command.startsWith('transit envelope'));
      expect(commands[0]).toBe(first);
      await pasted(here, commands.map((command) => `"coffer ${command}"`).join(), FILLED);
      expect(plain(here)).toBe(false);
    },
  );

  it.each([
    ['decrypt f.txt.coffer', 'transit envelope decrypt --in f.txt.coffer'],
    ['secrets decrypt f.txt.coffer --stdout', 'transit envelope decrypt --in f.txt.coffer'],
    ['secrets list f.txt.coffer', 'transit envelope decrypt --in f.txt.coffer'],
    ['secrets decrypt whole.yaml --stdout', 'transit envelope decrypt --in whole.yaml'],
    ['cat f.txt.coffer', 'transit envelope decrypt --in f.txt.coffer'],
    ['decrypt f.txt.coffer -o x', 'transit envelope decrypt --in f.txt.coffer --out x'],
    ['create orders', 'transit keys create orders'],
    ['transit read app', 'transit keys read app'],
    ['audit audit.log', 'audit show audit.log'],
    ['audit tail audit.log', 'audit show audit.log --last 20'],
    ['keygen -o key.txt', undefined],
    ['-k', 'transit keys list'],
    ['--list-keys', 'transit keys list'],
    ['--gen-key', 'transit keys create NAME'],
    ['--sign app.yaml', 'sign app.yaml --key NAME'],
    ['--verify f.txt.sig', 'verify f.txt --key NAME'],
    ['--verify f.txt.sig f.txt', 'verify f.txt --key NAME'],
    ['--verify gone.sig f.txt', 'verify f.txt --key NAME'],
    ['verify gone.sig f.txt gone.pub', 'verify f.txt --key NAME'],
    ['--armor --export releases', 'transit keys public releases'],
    ['get db -f app.yaml', 'secrets get app.yaml db'],
    ['unset db -f app.yaml', 'secrets unset app.yaml db'],
    ['describe key app', 'transit keys read app'],
    ['get key app', 'transit keys read app'],
    ['create key orders', 'transit keys create orders'],
    ['--export releases', 'transit keys public releases'],
    ['mv a b', 'secrets get FILE NAME | coffer secrets set FILE NEW'],
  ])('is answered with what does the same: %s', async (line, first) => {
    const here = await prepared();
    const said = await here.refused(line, 2);
    expect(commandsIn(said)[0]).toBe(first);
    const names = line === '--gen-key' ? { NAME: 'fresh' } : FILLED;
    if (first?.includes(' | ') !== true) await pasted(here, said, names);
  });

  it.each([
    ['insert mail/x', 'secrets set FILE NAME'],
    ['git push', 'secrets git-setup'],
    ['find x', 'secrets list FILE'],
    ['grep x', 'secrets list FILE'],
    ['updatekeys app.yaml', 'team add NAME KEY'],
    ['users', 'auth userpass list'],
    ['history', 'audit show FILE'],
    ['-c login', 'secrets get FILE login --copy'],
    ['-c f.txt', 'transit envelope encrypt --passphrase --in f.txt'],
    ['-p f.txt', 'transit envelope encrypt --passphrase --in f.txt'],
    ['encrypt -p f.txt', 'transit envelope encrypt --passphrase --in f.txt'],
    ['--import k.asc', 'transit import NAME --type TYPE --in FILE'],
    ['team ad bob', 'team add'],
    ['encrypt -f plain.yaml', 'secrets encrypt plain.yaml'],
    ['describe secret db app.yaml', 'secrets get app.yaml NAME'],
    ['get secret db -o yaml', 'secrets get FILE NAME'],
    ['create secret generic db', 'secrets set FILE NAME'],
    ['set db v -f app.yaml', 'secrets set app.yaml db'],
    ['delete key orders', 'transit keys delete orders'],
    ['delete policy p', 'policy delete p'],
    ['keypair', 'transit keys create NAME --type x25519'],
    ['age-keygen -o key.txt', 'transit keys create NAME --type x25519'],
    ['plan', 'tags apply --dry-run FILE'],
    ['snapshots', 'store backup FILE'],
    ['--armor --sign f.txt', 'sign f.txt --key NAME'],
  ])('names the command first that is meant most often: %s', async (line, first) => {
    expect(commandsIn(await (await prepared()).refused(line, 2))[0]).toBe(first);
  });
});

describe('a recipient of age or ssh', () => {
  it.each([
    'encrypt --age RECIPIENT f.txt',
    'encrypt -r RECIPIENT -o x f.txt',
    'encrypt --recipient=RECIPIENT f.txt',
    '-r RECIPIENT f.txt',
    '--age RECIPIENT f.txt',
    'transit envelope encrypt -r RECIPIENT f.txt',
    'transit envelope encrypt --age RECIPIENT f.txt',
    'transit envelope encrypt RECIPIENT f.txt',
    'transit envelope encrypt RECIPIENT --in f.txt',
    'encrypt --age RECIPIENT app.yaml',
    'secrets encrypt --age RECIPIENT app.yaml',
    'secrets encrypt -r RECIPIENT app.yaml',
    'secrets set app.yaml new --key RECIPIENT',
    'encrypt -R list f.txt',
  ])('is never taken for a key: %s', async (line) => {
    const here = await prepared();
    const recipient = await here.ok('transit keys public inbox --format age');
    here.write('list', `${recipient}\n`);
    const { exitCode, err } = await here.run(line.replace('RECIPIENT', recipient), { input: 'x' });
    expect([2, 3]).toContain(exitCode);
    const commands = await pasted(here, err, FILLED);
    expect(commands).toHaveLength(1);
    expect(commands[0]).toMatch(
      /^transit envelope encrypt --recipient (?:age1|@list)\S* --in \S+(?: --out x)?$/,
    );
  });

  it('that is an SSH key is not taken for a key either', async () => {
    const here = await prepared();
    const key = await here.ok('transit keys public releases --format ssh');
    for (const words of [
      ['secrets', 'encrypt', 'plain.yaml', '--key', key],
      ['transit', 'envelope', 'encrypt', key, 'f.txt'],
    ])
      expect(await here.refused(words, 2)).toContain(
        `a recipient is not a key: ${words[0] === 'secrets' ? 'use' : 'run'} "coffer transit envelope encrypt --recipient 'ssh-ed25519 `,
      );
  });
});
