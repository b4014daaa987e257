import { describe, expect, it } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';

const TYPED = { terminals: ['in', 'out', 'err'], columns: 1000 } as const;

async function withContents(): Promise<DirectoryHere> {
  const here = await DirectoryHere.withStore({ COFFER_ORG: 'acme' });
  await here.ok('transit keys create signing --type ed25519');
  await here.ok('orgs create acme');
  await here.ok('tags create red');
  await here.ok('workspaces create web');
  here.write('w.env', 'A=b\n');
  here.write('w.tpl', '{{ coffer:w.env#A }}');
  await here.ok('transit envelope encrypt app --in w.env --out w.coffer');
  return here;
}

describe('a command with --out', () => {
  it.each([
    ['tags export', '1 tag and 1 workspace'],
    ['tags show red', 'the result'],
    ['tags of web', 'the result'],
    ['secrets get w.env A', 'the value'],
    ['secrets inject --in w.tpl', 'the text'],
    ['transit keys public signing', 'the public key'],
    ['transit envelope header w.coffer', 'the result'],
    ['read transit/keys/app', 'the result'],
    ['keygen', 'the master key'],
    ['token capabilities sys/health', 'the result'],
    ['transit keys list', 'the result'],
    ['transit encrypt app hi', 'the ciphertext'],
    ['transit keys read app -o json', 'the result'],
  ])('says on a terminal, once, what it wrote, and nothing in a script: %s', async (line, what) => {
    const here = await withContents();
    const { exitCode, out, err } = await here.run(`${line} --out result.yaml`, TYPED);
    expect({ exitCode, out, err }).toEqual({
      exitCode: 0,
      out: '',
      err: `Wrote ${what} to result.yaml.\n`,
    });
    expect(await here.run(`${line} --out result.yaml --force`)).toMatchObject({
      exitCode: 0,
      out: '',
      err: '',
    });
    const quiet = await here.run(`${line} --out quiet.yaml -q`, TYPED);
    expect(quiet).toMatchObject({ exitCode: 0, out: '', err: '' });
  });
});
