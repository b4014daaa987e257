import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';
import { type Filled, pasted } from '../pasted.ts';

/* Words for signing and verifying in every order that gpg, minisign and slips of the mind bring up. */

const KEY = 'releases';
const FILE = 'notes.txt';
const SSH = `${FILE}.sig`;
const FILLED: Filled = { NAME: KEY, FILE };

/** Orders of one or two of the words. */
const ordersOf = (words: readonly string[]): readonly string[] =>
  words.flatMap((word) => [
    word,
    ...words.filter((other) => other !== word).map((next) => `${word} ${next}`),
  ]);

async function prepared(): Promise<DirectoryHere> {
  const here = await DirectoryHere.withStore();
  here.write(FILE, 'notes\n');
  await here.ok(`transit keys create ${KEY} --type ed25519`);
  await here.ok(`sign ${FILE} --key ${KEY}`);
  here.write('kept.txt', await here.ok(`transit sign ${KEY} --in ${FILE}`));
  return here;
}

describe('the hint about words for a signature', () => {
  it.each(ordersOf([KEY, FILE]).filter((words) => words.includes(FILE)))(
    'names a command that signs: sign %s',
    async (words) => {
      const here = await prepared();
      rmSync(here.file(SSH));
      const said = await here.refused(`sign ${words}`, 2);
      const commands = (await pasted(here, said, FILLED)).filter((command) => command.startsWith('sign '));
      expect(commands).toHaveLength(1);
    },
  );

  it.each(ordersOf([KEY, FILE, SSH]).filter((words) => words !== KEY))(
    'names a command that verifies: verify %s',
    async (words) => {
      const here = await prepared();
      const said = await here.refused(`verify ${words}`, 2);
      const own = said.replace(/"[^"]*--public-key FILE"/, '').replace('--key NAME', `--key ${KEY}`);
      expect(await pasted(here, own, FILLED)).not.toEqual([]);
    },
  );

  it('names a command that verifies a signature whose file was left out', async () => {
    const here = await prepared();
    const said = await here.refused(`verify ${SSH} --key ${KEY}`, 3);
    expect(await pasted(here, said, FILLED)).toEqual([`verify ${FILE} --key ${KEY}`]);
  });

  it.each([
    'SIGNATURE releases',
    'releases SIGNATURE',
    'releases kept.txt',
    'releases --signature kept.txt --in notes.txt',
    'releases notes.txt.sig',
    'notes.txt notes.txt.sig',
    'releases --signature notes.txt.sig --in notes.txt',
    'releases --signature @notes.txt.sig --in notes.txt',
  ])('names a command that verifies: transit verify %s', async (words) => {
    const here = await prepared();
    const text = here.read('kept.txt');
    const said = await here.refused(`transit verify ${words.replace('SIGNATURE', text)}`, 2);
    expect(await pasted(here, said, FILLED)).toHaveLength(1);
    expect(text).toMatch(/^service:v1:/);
  });

  it.each([
    ['-V -m notes.txt -p rel.pub', 'verify notes.txt --public-key rel.pub'],
    ['-Vm notes.txt', 'verify notes.txt --key NAME'],
    ['--version notes.txt', 'verify notes.txt --key NAME'],
    ['--verify notes.txt.sig notes.txt', 'verify notes.txt --key NAME'],
    ['verify -Vm notes.txt -p rel.pub', 'verify notes.txt --public-key rel.pub'],
    ['verify -m notes.txt -p rel.pub -x other', 'verify notes.txt other --public-key rel.pub'],
    ['verify notes.txt.sig notes.txt rel.pub', 'verify notes.txt --public-key rel.pub'],
    ['verify notes.txt.sig notes.txt releases', 'verify notes.txt --key releases'],
  ])('names the command that verifies what gpg and minisign do: %s', async (line, command) => {
    const here = await prepared();
    here.write('rel.pub', await here.ok(`transit keys public ${KEY} --format ssh`));
    here.write('other', here.read(SSH));
    const { exitCode, out, err } = await here.run(line);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(await pasted(here, err, FILLED)).toEqual([command]);
  });

  it.each([
    ['sign -u releases notes.txt', 'sign notes.txt --key releases'],
    ['sign -Sm notes.txt', 'sign notes.txt --key NAME'],
  ])('names the command that signs what gpg and minisign do: %s', async (line, command) => {
    const here = await prepared();
    rmSync(here.file(SSH));
    expect(await pasted(here, await here.refused(line, 2), FILLED)).toEqual([command]);
  });

  it('is none for the version alone', async () => {
    const here = await prepared();
    for (const line of ['-V', '--version']) expect(await here.ok(line)).toMatch(/^coffer \d/);
  });

  it('keeps the options that were typed', async () => {
    const here = await prepared();
    expect(await here.refused(`sign ${KEY} ${FILE} --format minisign`, 2)).toContain(
      `"coffer sign ${FILE} --key ${KEY} --format minisign"`,
    );
    expect(await here.refused(`verify ${SSH} ${FILE} --namespace git`, 2)).toContain(
      `"coffer verify ${FILE} ${SSH} --namespace git --key NAME"`,
    );
  });
});

describe('a signature that cannot be made', () => {
  it('is refused for its key before its file, with a signature there and without', async () => {
    const here = await prepared();
    for (const line of [`sign ${FILE} --key app`, `sign ${FILE} --key app --force`])
      expect(await here.refused(line, 2)).toContain('--key: app has no public key');
    const before = here.read(SSH);
    expect(await here.refused(`sign ${FILE} --key ${KEY}`, 6)).toContain(`${SSH} already exists`);
    expect(here.read(SSH)).toBe(before);
  });

  it('is refused for a missing file before the missing key', async () => {
    const here = await prepared();
    for (const line of ['sign nofile', 'verify nofile', `sign nofile ${FILE} other`])
      expect(await here.refused(line, 2)).toContain('cannot read nofile: no such file');
  });
});
