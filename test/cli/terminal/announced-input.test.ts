import { describe, expect, it } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';

const TYPED = { terminals: ['in', 'out', 'err'], input: 'typed', columns: 120 } as const;
const WAITS = 'Reading from standard input, end with Ctrl-D on an empty line…\n';

describe('a command that reads what is typed', () => {
  it.each([
    ['transit encrypt app', 'No plaintext given. '],
    ['transit decrypt app', 'No ciphertext given. '],
    ['transit sign rel', 'No input given. '],
    ['transit hmac app', 'No input given. '],
    ['transit hash', 'No input given. '],
    ['transit restore', 'No backup given. '],
    ['transit encrypt app -', ''],
    ['transit encrypt app --in -', ''],
    ['transit encrypt app --batch -', ''],
    ['transit envelope encrypt app --out f.coffer', ''],
    ['transit envelope decrypt', ''],
    ['transit envelope header', ''],
    ['sign - --key rel', ''],
    ['policy write p -', ''],
    ['secrets inject', ''],
    ['secrets encrypt - --format dotenv --key app', ''],
    ['write transit/encrypt/app plaintext=-', ''],
    ['tags import - --format csv --org acme', ''],
    ['audit show -', ''],
  ])('says that it waits, and for what if that was left out: %s', async (line, omitted) => {
    const here = await DirectoryHere.withStore();
    await here.ok('transit keys create rel --type ed25519');
    await here.ok('orgs create acme');
    const { err } = await here.run(line, TYPED);
    expect(err.replaceAll('\r\u001b[K', '')).toMatch(new RegExp(`^${omitted}${WAITS}`));
    const { err: piped } = await here.run(line, { input: 'typed' });
    expect(piped).not.toContain('Reading');
  });
});
