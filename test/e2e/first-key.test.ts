import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { emptyPlace, MASTER_KEY, type Place } from './harness.ts';
import { canUseTerminals, onTerminal, unwrapped } from './terminal.ts';

async function placeWithStore(): Promise<Place> {
  const here = emptyPlace().with({ COFFER_MASTER_KEY: MASTER_KEY });
  await here.ok('init -q');
  writeFileSync(here.file('.env'), 'DB=s3cret\n');
  return here;
}

/** What a refused command says on a wide terminal, in one line. */
function refusal(here: Place, line: string): string {
  const { text, exitCode } = onTerminal(here, line, { columns: 400 });
  expect(`${exitCode} ${text}`).toMatch(/^2 /);
  return unwrapped(text);
}

/** Types the commands of a message. */
async function typed(here: Place, text: string, count = 2): Promise<void> {
  const commands = [...text.matchAll(/"((?:coffer|printf) [^"]+)"/g)].map(([, command = '']) => command);
  expect(commands).toHaveLength(count);
  expect(await here.shell(commands.join(' && '))).toMatchObject({ exitCode: 0, stderr: '' });
}

describe.skipIf(!canUseTerminals)('the first value that is encrypted, without a key', () => {
  it('is answered on a terminal with the commands that create one and a rule', async () => {
    const here = await placeWithStore();
    await here.ok('transit keys create rel --type ed25519');
    await here.ok('transit keys create wide --type rsa-2048');
    const text = refusal(here, 'coffer secrets encrypt .env');
    expect(text).toContain('no key given to encrypt .env with (no key can encrypt values yet: run "coffer');
    expect(text).not.toMatch(/\brel\b|\bwide\b/);
    await typed(here, text);
    expect(readFileSync(here.file('.coffer.yaml'), 'utf8')).toBe('rules:\n  - files: .env\n    key: app\n');
    await here.ok('secrets encrypt -q .env');
    expect(await here.ok('secrets get .env DB')).toBe('s3cret');
    // From then on, keys that encrypt values are offered, and no others.
    writeFileSync(here.file('b.json'), '{"a": "1"}');
    expect(refusal(here, 'coffer secrets encrypt b.json')).toContain(
      '(keys: app; use --key NAME, or add a rule',
    );
  });

  it('is answered with the only key that there is, also of a keyring, and a command that adds a rule for it', async () => {
    const here = await placeWithStore();
    await here.ok('transit keys create only');
    for (const [before, key] of [
      [undefined, 'only'],
      ['rules:\n  - files: other.yaml\n    key: other\n', 'only'],
    ] as const) {
      rmSync(here.file('.coffer.yaml'), { force: true });
      if (before !== undefined) writeFileSync(here.file('.coffer.yaml'), before);
      const text = refusal(here, 'coffer secrets encrypt .env');
      expect(text).toContain(`keys: ${key}; use --key NAME, or add a rule`);
      await typed(here, text, 1);
      expect(readFileSync(here.file('.coffer.yaml'), 'utf8')).toBe(
        `${before ?? 'rules:\n'}  - files: .env\n    key: ${key}\n`,
      );
    }
    // Rules that a line behind them would make invalid.
    writeFileSync(here.file('.coffer.yaml'), 'rules: [{ files: a.env, key: only }]\n');
    expect(refusal(here, 'coffer secrets encrypt .env')).not.toContain('printf');
    await here.ok('transit keys create second');
    rmSync(here.file('.coffer.yaml'));
    expect(refusal(here, 'coffer secrets encrypt .env')).not.toContain('printf');
  });

  it('is answered with the only key of a keyring, and a command that adds a rule for it', async () => {
    const here = emptyPlace();
    writeFileSync(here.file('.env'), 'DB=s3cret\n');
    expect(await here.shell('git init -q && ssh-keygen -q -t ed25519 -N "" -f id')).toMatchObject({
      exitCode: 0,
    });
    await here.ok('team init -q --key shared --identity id');
    const text = refusal(here, 'coffer secrets encrypt .env');
    expect(text).toContain('keys of the keyring: shared; use --key NAME, or add a rule');
    await typed(here, text, 1);
    expect(readFileSync(here.file('.coffer.yaml'), 'utf8')).toContain('key: shared');
  });

  it('has its rule added to those that are there, also by "secrets set"', async () => {
    const here = await placeWithStore();
    writeFileSync(here.file('.coffer.yaml'), 'rules:\n  - files: other.yaml\n    key: other\n');
    mkdirSync(here.file('config'));
    await typed(here, refusal(here, 'coffer secrets set config/prod.yaml db.password s3cret'));
    await here.ok('secrets set -q config/prod.yaml db.password s3cret');
    expect(await here.ok('secrets get config/prod.yaml db.password')).toBe('s3cret');
  });

  it('needs no rule if one in this directory could not name the file', async () => {
    const here = await placeWithStore();
    writeFileSync(here.file("it's.env"), 'A=1\n');
    await typed(here, refusal(here, `coffer secrets encrypt "it's.env"`));
    expect(existsSync(here.file('.coffer.yaml'))).toBe(false);
    expect(await here.ok(['secrets', 'get', "it's.env", 'A'])).toBe('1');
    const below = await placeWithStore();
    mkdirSync(below.file('sub'));
    writeFileSync(below.file('sub/a.env'), 'A=1\n');
    writeFileSync(below.file('.coffer.yaml'), 'rules:\n  - files: other.yaml\n    key: other\n');
    expect(refusal(below, 'cd sub && coffer secrets encrypt a.env')).toContain(
      'then "coffer secrets encrypt a.env --key app")',
    );
  });

  it('is answered with the command that creates a store, if there is none', async () => {
    const here = emptyPlace().with({ COFFER_MASTER_KEY: MASTER_KEY });
    writeFileSync(here.file('.env'), 'DB=s3cret\n');
    const text = refusal(here, 'coffer secrets encrypt .env');
    expect(text).toContain(
      '(no store exists yet: run "coffer init", then "coffer transit keys create app" and, for a rule',
    );
    await typed(here, text.replace('coffer init', 'coffer init -q'), 3);
    await here.ok('secrets encrypt -q .env');
    expect(await here.ok('secrets get .env DB')).toBe('s3cret');
  });

  it('is answered in a pipe as ever', async () => {
    const here = await placeWithStore();
    expect(await here.refused('secrets encrypt .env', 2)).toBe(
      'coffer: no key given to encrypt .env with (use --key NAME, or add a rule to .coffer.yaml)',
    );
    writeFileSync(here.file('.coffer.yaml'), 'rules:\n  - files: "*.yaml"\n    key: app\n');
    for (const line of ['secrets encrypt .env', 'secrets set .env A'])
      expect(await here.refused(line, 2, { input: 'x' })).toContain(
        'no key given to encrypt .env with (use --key NAME, or add a rule: no rule in .coffer.yaml matches .env)',
      );
  });
});

describe('a value and its name', () => {
  it('in one word are taken apart in the answer, which does not repeat the value', async () => {
    const here = await placeWithStore();
    await here.ok('transit keys create app');
    for (const more of ['', ' --key app'])
      expect(await here.refused(`secrets set .env NEWKEY=hush${more}`, 2)).toBe(
        `coffer: NAME: NEWKEY=… is a name with a value, not a name (give the value separately: run "coffer secrets set .env NEWKEY${more}", which asks for it or reads it from a pipe)`,
      );
    expect(await here.refused('secrets set app.yaml db.password=hush --key app', 2)).toContain(
      'NAME: db.password=… is a name with a value, not a name (give the value separately: run "coffer secrets set app.yaml db.password --key app"',
    );
    expect(existsSync(here.file('app.yaml'))).toBe(false);
    // Such a name is taken where it is meant.
    await here.ok('secrets set app.yaml a=b hush --key app');
    await here.ok('secrets set app.yaml a=b', { input: 'other' });
    expect(await here.ok('secrets get app.yaml a=b')).toBe('other');
    await here.ok('secrets set .env NEWKEY --key app', { input: 'hush' });
    expect(await here.ok('secrets get .env NEWKEY')).toBe('hush');
  });
});

describe('a file without values', () => {
  it('is answered with the command that encrypts it as a whole', async () => {
    const here = await placeWithStore();
    writeFileSync(here.file('photo.bin'), Buffer.from([0x89, 0xff, 0x00]));
    const whole = (key: string) =>
      `(to encrypt the whole file, run "coffer transit envelope encrypt ${key} photo.bin"; use --format`;
    expect(await here.refused('secrets encrypt photo.bin', 2)).toContain(whole('KEY'));
    const refusal = await here.refused('secrets encrypt photo.bin --key app', 2);
    expect(refusal).toContain(whole('app'));
    await here.ok('transit keys create app');
    const [, command = ''] = /"coffer ([^"]+)"/.exec(refusal) ?? [];
    await here.ok(`${command} --out sealed`);
    expect(await here.refused('secrets encrypt none.bin', 2)).not.toContain('whole file');
  });
});
