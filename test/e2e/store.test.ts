import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inTurn } from '../in-turn.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

let bare: Place;
let here: Place;

beforeEach(() => {
  bare = emptyPlace();
  here = bare.with({ COFFER_MASTER_KEY: MASTER_KEY });
});
afterEach(() => removePlace(bare));

/** A small file of a store as docs/format.md describes it: the SHA-256 of the object, put in front of its members. */
function withChecksum(content: object): string {
  const body = JSON.stringify(content);
  const checksum = createHash('sha256').update(body).digest('hex');
  return `{"checksum":"${checksum}",${body.slice(1)}\n`;
}

const otherKey = Buffer.alloc(32, 8).toString('base64');

/** As a file with a secret must be. */
const PRIVATE = { mode: 0o600 };

describe('coffer init', () => {
  it('makes a store that only the owner can read, and tells where on standard error', async () => {
    const { exitCode, stdout, stderr } = await here.run('init');
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
    expect(stderr).toBe(
      `Created store ${here.file('store')}. Unlock it with a master key; without that, its data is lost.\n`,
    );
    expect(statSync(here.file('store')).mode & 0o777).toBe(0o700);
    expect(await here.ok('status -o json')).toContain('"locked":false');
  });

  it('uses the data directory of the platform when no other is named', async () => {
    const home = here.with({ COFFER_STORE: undefined, XDG_DATA_HOME: here.file('data') });
    await home.ok('init');
    expect(existsSync(here.file('data/coffer'))).toBe(true);
    await home.ok('transit keys create orders');
  });

  it('refuses to make a store where there is one, or anything else', async () => {
    await here.ok('init');
    expect(await here.refused('init', 6)).toContain('a store already exists in');
    mkdirSync(here.file('full'));
    writeFileSync(here.file('full/x'), '');
    await here.refused('init --store full', 1);
    expect(readdirSync(here.file('full'))).toEqual(['x']);
  });

  it('needs something that unlocks the store when nobody can be asked', async () => {
    expect(await bare.refused('init', 4)).toContain('COFFER_MASTER_KEY');
    expect(existsSync(bare.file('store'))).toBe(false);
  });

  it.each([
    ['a master key that is none', { COFFER_MASTER_KEY: 'short' }, 'COFFER_MASTER_KEY'],
    ['a key file that is not there', { COFFER_MASTER_KEY_FILE: '/nowhere' }, 'COFFER_MASTER_KEY_FILE'],
  ])('refuses %s', async (_, environment, named) => {
    expect(await bare.refused('init', 2, { environment })).toContain(named);
    expect(existsSync(bare.file('store'))).toBe(false);
  });

  it('refuses impossible shares', async () => {
    for (const line of [
      'init --shares 5',
      'init --shares 3 --threshold 4',
      'init --shares 1 --threshold 1',
      'init --shares x --threshold 2',
    ]) {
      await here.refused(line, 2);
    }
  });

  it('makes the default mount speak the dialect that is asked for', async () => {
    await here.ok('init --dialect vault');
    expect(await here.ok('transit encrypt orders x')).toMatch(/^vault:v1:/);
  });
});

describe('ways to unlock the store', () => {
  const made = async (environment: Record<string, string>, line = 'init'): Promise<Place> => {
    const place = bare.with(environment);
    await place.ok(line);
    await place.ok('transit keys create orders');
    return place;
  };

  it.each([
    ['COFFER_MASTER_KEY in base64', () => ({ COFFER_MASTER_KEY: MASTER_KEY })],
    ['COFFER_MASTER_KEY in hex', () => ({ COFFER_MASTER_KEY: '07'.repeat(32) })],
    [
      'COFFER_MASTER_KEY_FILE',
      () => {
        writeFileSync(bare.file('key'), `${MASTER_KEY}\n`, PRIVATE);
        return { COFFER_MASTER_KEY_FILE: bare.file('key') };
      },
    ],
    ['COFFER_MASTER_KEY_COMMAND', () => ({ COFFER_MASTER_KEY_COMMAND: `echo ${MASTER_KEY}` })],
    ['COFFER_PASSPHRASE', () => ({ COFFER_PASSPHRASE: 'correct horse battery staple' })],
    [
      'COFFER_PASSPHRASE_FILE',
      () => {
        writeFileSync(bare.file('phrase'), 'correct horse battery staple\n', PRIVATE);
        return { COFFER_PASSPHRASE_FILE: bare.file('phrase') };
      },
    ],
  ])('take the secret from %s', async (_, environment) => {
    const place = await made(environment());
    expect(await place.ok('transit keys list')).toBe('orders');
    expect(await bare.refused('transit keys list', 4)).toMatch(/locked|sealed/);
  });

  it('lets the same master key come from the variable or from a file', async () => {
    await made({ COFFER_MASTER_KEY: MASTER_KEY });
    writeFileSync(bare.file('key'), MASTER_KEY, PRIVATE);
    expect(await bare.with({ COFFER_MASTER_KEY_FILE: bare.file('key') }).ok('transit keys list')).toBe(
      'orders',
    );
  });

  it('takes any file of 32 bytes or more as a key file', async () => {
    writeFileSync(bare.file('photo.jpg'), randomBytes(5000), PRIVATE);
    await bare.ok('init --key-file photo.jpg');
    expect(await bare.with({ COFFER_MASTER_KEY_FILE: bare.file('photo.jpg') }).ok('transit keys list')).toBe(
      '',
    );
    writeFileSync(bare.file('short'), 'x', PRIVATE);
    await bare.refused('init --store other --key-file short', 2);
  });

  it('says when the key or the passphrase is the wrong one', async () => {
    await made({ COFFER_MASTER_KEY: MASTER_KEY });
    expect(await bare.with({ COFFER_MASTER_KEY: otherKey }).refused('transit keys list', 4)).toContain(
      'COFFER_MASTER_KEY',
    );
    await bare.with({ COFFER_PASSPHRASE: 'right' }).ok('init --store phrase');
    await bare.with({ COFFER_PASSPHRASE: 'wrong' }).refused('transit keys list --store phrase', 4);
  });

  it('says when the command that should print the key fails', async () => {
    await here.ok('init');
    const line = await bare.with({ COFFER_MASTER_KEY_COMMAND: 'exit 7' }).refused('transit keys list', 1);
    expect(line).toContain('COFFER_MASTER_KEY_COMMAND');
    expect(line).toContain('7');
  });

  it('needs as many recovery shares as was said, in any order', async () => {
    const shares = (await here.ok('init --shares 5 --threshold 3')).split('\n');
    expect(shares).toHaveLength(5);
    await here.ok('transit keys create orders');
    const withShares = (...texts: (string | undefined)[]): Place => {
      writeFileSync(bare.file('shares'), texts.join('\n'), PRIVATE);
      return bare.with({ COFFER_SHARES_FILE: bare.file('shares') });
    };
    expect(await withShares(shares[4], shares[0], shares[2]).ok('transit keys list')).toBe('orders');
    await withShares(shares[4], shares[0]).refused('transit keys list', 4);
  });

  it('says that there is no store yet, and how to make one', async () => {
    expect(await here.refused('transit keys list', 3)).toContain('coffer init');
  });
});

describe('coffer slots', () => {
  it('adds a way in, lists it, and removes it again', async () => {
    await here.ok('init');
    const fresh = await here.ok('slots add --raw --label pipeline');
    const second = bare.with({ COFFER_MASTER_KEY: fresh });
    expect(await second.ok('transit keys list')).toBe('');
    const slots = (await here.json('slots list')) as { id: string; kind: string; label: string }[];
    expect(slots).toMatchObject([
      { kind: 'raw', label: '' },
      { kind: 'raw', label: 'pipeline' },
    ]);
    const id = slots[1]?.id ?? '';
    expect(await here.refused(`slots remove ${id}`, 2)).toContain('--yes');
    await here.ok(`slots remove ${id} --yes`);
    await second.refused('transit keys list', 4);
    expect(await here.refused(`slots remove ${slots[0]?.id} --yes`, 1)).toContain('last');
    await here.refused('slots remove 0000000000000000 --yes', 3);
  });

  it('adds passphrases, key files, commands and shares', async () => {
    await here.ok('init');
    writeFileSync(here.file('phrase'), 'new phrase\n', PRIVATE);
    await here.ok('slots add --passphrase-file phrase');
    expect(await bare.with({ COFFER_PASSPHRASE: 'new phrase' }).ok('transit keys list')).toBe('');
    await here.ok('slots add --passphrase', { environment: { COFFER_NEW_PASSPHRASE: 'another' } });
    expect(await bare.with({ COFFER_PASSPHRASE: 'another' }).ok('transit keys list')).toBe('');
    writeFileSync(here.file('key'), randomBytes(32), PRIVATE);
    await here.ok('slots add --key-file key');
    expect(await bare.with({ COFFER_MASTER_KEY_FILE: bare.file('key') }).ok('transit keys list')).toBe('');
    await here.ok(['slots', 'add', '--command', 'echo from a command']);
    expect(
      await bare.with({ COFFER_MASTER_KEY_COMMAND: 'echo from a command' }).ok('transit keys list'),
    ).toBe('');
    expect((await here.ok('slots add --shares 3 --threshold 2')).split('\n')).toHaveLength(3);
    expect((await here.ok('slots list')).split('\n')).toHaveLength(6);
  });

  it('says how to give a new passphrase when nobody can be asked for it', async () => {
    await here.ok('init');
    expect(await here.refused('slots add --passphrase', 4)).toBe(
      'coffer: cannot prompt for the new passphrase (set COFFER_NEW_PASSPHRASE, or use --passphrase-file)',
    );
  });

  it.each([
    ['no way at all', 'slots add'],
    ['two ways at once', 'slots add --raw --shares 3 --threshold 2'],
  ])('refuses %s', async (_, line) => {
    await here.ok('init');
    await here.refused(line, 2);
    expect((await here.ok('slots list')).split('\n')).toHaveLength(1);
  });
});

describe('coffer status', () => {
  it('tells what is known of a locked store, and counts in an unlocked one', async () => {
    await here.ok('init');
    await here.ok('transit keys create orders');
    await here.ok('orgs create acme');
    expect(await bare.json('status')).toMatchObject({
      directory: here.file('store'),
      format: 2,
      locked: true,
      slots: [{ kind: 'raw' }],
    });
    expect(await here.json('status')).toMatchObject({ locked: false, mounts: 1, keys: 1, organizations: 1 });
    expect(await here.ok('status')).toMatch(/^state\tunlocked\nopens with\traw\n/);
  });
});

describe('the whole store', () => {
  it('is sealed again under a new root key; every way in keeps working', async () => {
    await here.ok('init');
    const ciphertext = await here.ok('transit encrypt orders secret');
    const fresh = await here.ok('slots add --raw');
    const before = readdirSync(here.file('store'), { recursive: true });
    expect(await here.ok('rekey')).toBe('');
    expect(await here.ok(`transit decrypt orders ${ciphertext}`)).toBe('secret');
    expect(await bare.with({ COFFER_MASTER_KEY: fresh }).ok(`transit decrypt orders ${ciphertext}`)).toBe(
      'secret',
    );
    expect(await here.ok('doctor')).toBe('');
    expect(before).not.toEqual([]);
  });

  it('is backed up to one file while it is used, and brought back elsewhere', async () => {
    await here.ok('init');
    const ciphertext = await here.ok('transit encrypt orders secret');
    expect(await here.ok('store backup copy.coffer')).toBe('');
    expect(statSync(here.file('copy.coffer')).mode & 0o777).toBe(0o600);
    expect(await here.ok('store restore copy.coffer --store restored')).toBe('');
    expect(await here.ok(`transit decrypt orders ${ciphertext} --store restored`)).toBe('secret');
    expect(await here.refused('store backup copy.coffer', 6)).toContain('--force');
    await here.ok('store backup copy.coffer --force');
    await here.refused('store restore copy.coffer --store restored', 6);
    expect((await here.run('store restore nowhere --store other')).exitCode).not.toBe(0);
  });

  it('hides names: nothing in it can be found by grep', async () => {
    await here.ok('init');
    await here.ok('transit encrypt secretkeyname x --context-text secretcontext');
    await here.ok('orgs create secretorganization');
    await here.ok('tags create secrettag --org secretorganization');
    const found = await here.shell('grep -rE "secret(keyname|context|organization|tag)" store');
    expect(found).toMatchObject({ stdout: '', exitCode: 1 });
  });

  it('is checked by doctor, which names what is damaged; other commands go on', async () => {
    await here.ok('init');
    await here.ok('transit keys create one');
    await here.ok('transit keys create two');
    // What is damaged in a document is taken from the log if it is still there; this empties it.
    await here.ok('rekey');
    expect(await here.run('doctor')).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: expect.stringContaining('no problems found'),
    });
    const names = await inTurn(['one', 'two'], (name) => damagedBy(name));
    expect(names[0]).not.toBe(names[1]);
  });

  /** Flips a bit in each file in turn until the key can't be read any more, and checks what is said then. */
  async function damagedBy(name: string): Promise<string> {
    const files = readdirSync(here.file('store'), { recursive: true, encoding: 'utf8' })
      .map((file) => here.file(`store/${file}`))
      .filter((file) => statSync(file).isFile());
    for (const file of files) {
      const original = readFileSync(file);
      const broken = Buffer.from(original);
      const middle = Math.floor(broken.length / 2);
      if (broken.length === 0) continue;
      broken[middle] = (broken[middle] ?? 0) ^ 1;
      writeFileSync(file, broken);
      const other = name === 'one' ? 'two' : 'one';
      const onlyThis =
        (await here.run(`transit encrypt ${name} x --no-create`)).exitCode !== 0 &&
        (await here.run(`transit encrypt ${other} x --no-create`)).exitCode === 0;
      if (onlyThis) {
        const line = await here.refused(`transit encrypt ${name} x --no-create`, 1);
        expect(line).toContain(file);
        const doctor = await here.run('doctor -o json');
        expect(doctor.exitCode).toBe(1);
        expect(JSON.parse(doctor.stdout).findings.map((finding: { file: string }) => finding.file)).toEqual([
          file,
        ]);
      }
      writeFileSync(file, original);
      if (onlyThis) return file;
    }
    throw new Error(`no file was needed for the key ${name} alone`);
  }
});

describe('a place that can not be used', () => {
  it('is a directory that was deleted while one is in it; what needs no directory goes on', async () => {
    await here.ok('init');
    await here.ok('transit keys create orders');
    const { stdout, stderr, exitCode } = await here.shell(
      'mkdir gone && cd gone && rmdir ../gone && coffer transit keys list && coffer init --store ./new',
    );
    expect(stdout).toBe('orders\n');
    expect(stderr).toBe('coffer: cannot create ./new: no such file or directory (check the path)\n');
    expect(exitCode).toBe(1);
  });

  it('refuses a store that others can write', async () => {
    await here.ok('init');
    chmodSync(here.file('store'), 0o777);
    expect(await here.refused('transit keys list', 1)).toContain(here.file('store'));
  });

  it('refuses a store of a newer format, and says so', async () => {
    await here.ok('init');
    const header = here.file('store/coffer.json');
    const { checksum: _, ...content } = JSON.parse(readFileSync(header, 'utf8'));
    writeFileSync(header, withChecksum({ ...content, format: 99 }));
    const line = await here.refused('transit keys list', 1);
    expect(line).toContain(header);
    expect(line).toContain('newer');
  });

  it.skipIf(process.getuid?.() === 0)('is named when it is read-only', async () => {
    await here.ok('init');
    chmodSync(here.file('store'), 0o500);
    await here.refused('transit keys create orders', 1);
    chmodSync(here.file('store'), 0o700);
  });

  it('says that the disk is full, and writes nothing half', async () => {
    await here.ok('init');
    const ciphertext = await here.ok('transit encrypt orders x');
    if (!existsSync('/dev/full')) return;
    const { exitCode, stderr } = await here.shell(`coffer transit decrypt orders ${ciphertext} > /dev/full`);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^coffer: cannot write: no space left on device\n$/);
  });
});

describe('commands for the files of a store', () => {
  it.each(['init', 'slots list', 'rekey', 'doctor', 'store backup x', 'serve'])(
    '%s refuses a server',
    async (line) => {
      expect(await here.refused(`${line} --address http://127.0.0.1:1`, 2)).toContain('--address');
    },
  );
});

it('a command in a shell loop leaves no processes and no files behind', async () => {
  await here.ok('init');
  await here.ok('transit keys create orders');
  // What was seen of the store last is remembered, in one file.
  const names = () => readdirSync(here.directory, { recursive: true }).length;
  const before = names();
  const { stdout } = await here.shell(
    'for i in 1 2 3; do printf "$i" | coffer transit encrypt orders | coffer transit decrypt orders; done',
  );
  expect(stdout).toBe('123');
  expect(names()).toEqual(before);
  expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(here.directory);
});
