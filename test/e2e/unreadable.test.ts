import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { local, type Place } from './harness.ts';

let running: Awaited<ReturnType<typeof local.start>>;
let here: Place;
beforeAll(async () => {
  running = await local.start();
  here = running.place.spawned;
  await here.ok('transit keys create signing --type ed25519');
});
afterAll(() => running.stop());

/** What a shell hands to a process as its arguments. */
describe.runIf(process.platform === 'linux')('bytes that are no UTF-8', () => {
  it.each([
    ['a value', `coffer transit sign signing $'a\\xffb'`, 'argument 4'],
    ['an option', `coffer transit sign signing x --context-text $'\\xff'`, 'argument 6'],
    ['a file', `coffer transit sign signing --in $'f\\xff'`, 'argument 5'],
    ['a variable', `COFFER_ORG=$'a\\xff' coffer orgs list`, 'the value of COFFER_ORG'],
    [
      'a passphrase',
      `COFFER_MASTER_KEY= COFFER_PASSPHRASE=$'a\\xfe' coffer transit keys list`,
      'COFFER_PASSPHRASE',
    ],
  ])('are refused in %s', async (_, script, named) => {
    const { exitCode, stdout, stderr } = await here.shell(script);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(named);
    expect(stderr).toContain('is not valid UTF-8');
  });

  it('are refused as an argument of a program, with a way to make them', async () => {
    const { exitCode, stderr } = await here.shell(`coffer exec -- printf $'a\\xff'`);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      `let a shell write the bytes: coffer exec … -- sh -c 'PROGRAM "$(printf "\\377")"'`,
    );
    expect((await here.shell(`coffer exec -- sh -c 'printf "$(printf "\\377")"' | od -An -tx1`)).stdout).toBe(
      ' ff\n',
    );
  });

  it('leave the character alone that Node puts in their place, where somebody typed it', async () => {
    const signature = await here.ok(['transit', 'sign', 'signing', 'a\ufffdb']);
    await here.ok(['transit', 'verify', 'signing', 'a\ufffdb', '--signature', signature]);
    await here.ok('orgs list', { environment: { COFFER_ORG: 'a\ufffd' } });
    expect(await here.ok(['exec', '--', 'printf', '%s', 'a\ufffdb'])).toBe('a\ufffdb');
  });

  it('may come on standard input, where they are what they are', async () => {
    const signature = (await here.shell(`printf 'a\\xffb' | coffer transit sign signing`)).stdout.trim();
    const other = await here.shell(
      `printf 'a\\xfeb' | coffer transit verify signing --signature ${signature}`,
    );
    expect(other.exitCode).toBe(5);
  });
});
