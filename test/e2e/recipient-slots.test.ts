import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { credentialsFor, openWith } from '../../src/cli/secrets/unlock.ts';
import { Session } from '../../src/cli/session.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { freshIdentity, recipientOfIdentity } from '../../src/transit/envelope/age/recipients.ts';
import { printBech32 } from '../../src/transit/key-types/age/bech32.ts';
import { xWingKem } from '../../src/transit/key-types/age/x25519.ts';
import { mistyped } from '../mistyped.ts';
import { startServer } from '../servers/serving.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { makeSshKey } from './ssh-keys.ts';
import { canUseTerminals, onTerminal } from './terminal.ts';

vi.mock('node:crypto', async (original) =>
  (await import('../light-argon2.ts')).withLightArgon2(await original()),
);

const places: Place[] = [];
/** A machine: a home directory, and no secret in its environment. */
function machine(): Place {
  const place = emptyPlace();
  places.push(place);
  mkdirSync(place.file('.ssh'), { mode: 0o700 });
  return place;
}
let shared: Place;
beforeAll(() => {
  shared = machine();
});
afterAll(() => places.forEach(removePlace));

const age = freshIdentity(systemRandom);
const other = freshIdentity(systemRandom);
const hybrid = printBech32(xWingKem.identityPrefix, systemRandom.bytes(32)).toUpperCase();

/** A session in which questions are answered as given; nobody can be asked without answers. */
function sessionOf(place: Place, answer?: (question: string) => string): Session {
  const stream = { isTerminal: false, write: () => undefined };
  const prompts = {
    available: () => answer !== undefined,
    secret: async (question: string) => answer?.(question) ?? '',
  };
  return new Session(
    { in: stream, out: stream, err: stream } as never,
    place.environment(),
    new Map(),
    prompts as never,
    () => Promise.reject(new Error('nothing runs here')),
  );
}

/** An SSH key of a machine. @returns the public half. */
function sshKey(place: Place, name: string, type = 'ed25519'): string {
  makeSshKey(place.file(`.ssh/${name}`), type, 'somebody@somewhere');
  return readFileSync(place.file(`.ssh/${name}.pub`), 'utf8').trim();
}

const kindsOf = async (place: Place): Promise<readonly string[]> =>
  ((await place.json('slots list')) as { kind: string }[]).map(({ kind }) => kind);

const copyOf = (place: Place): Place => {
  const copy = machine();
  cpSync(place.file('store'), copy.file('store'), { recursive: true });
  return copy;
};

describe('a store with a slot for a public key', () => {
  it.each([
    ['X25519', () => ({ text: age, recipient: recipientOfIdentity(age) })],
    ['hybrid', () => ({ text: hybrid, recipient: recipientOfIdentity(hybrid) })],
    ['SSH Ed25519', () => sshPair('ed25519')],
    ['SSH RSA', () => sshPair('rsa')],
  ])('opens with the private key, in a variable or in a file: %s', async (name, pair) => {
    const { text, recipient } = pair();
    const place = machine();
    await place.ok(['init', '-q', '--recipient', recipient]);
    const file = place.file('key');
    writeFileSync(file, `# ${name}\n${text}\n`.replace(/^# SSH.*\n/, ''), { mode: 0o600 });
    for (const environment of [{ COFFER_IDENTITY: text }, { COFFER_IDENTITY_FILE: file }]) {
      await place.with(environment).ok('transit keys create -q orders --if-missing');
      expect(await kindsOf(place.with(environment))).toEqual(['recipient']);
    }
  });

  function sshPair(type: string) {
    const recipient = sshKey(shared, type, type);
    return { text: readFileSync(shared.file(`.ssh/${type}`), 'utf8'), recipient };
  }

  it('takes a slot for each line of a file at init, and one at a time later', async () => {
    const place = machine();
    writeFileSync(
      place.file('team'),
      `# us\n${recipientOfIdentity(age)}\n\n${recipientOfIdentity(hybrid)}\n`,
    );
    await place.ok('init -q --recipient @team');
    const opened = place.with({ COFFER_IDENTITY: hybrid });
    expect(await kindsOf(opened)).toEqual(['recipient', 'recipient']);
    expect(await opened.refused('slots add --recipient @team', 2)).toContain('exactly one kind of slot');
    const added = await opened.json([
      'slots',
      'add',
      '--recipient',
      recipientOfIdentity(other),
      '--label',
      'zoe',
    ]);
    expect(added).toMatchObject({ kind: 'recipient', label: 'zoe', recipient: recipientOfIdentity(other) });
    expect(await kindsOf(place.with({ COFFER_IDENTITY: other }))).toHaveLength(3);
    await opened.ok(['slots', 'remove', '--yes', '-q', String((added as { id: string }).id)]);
    expect(await place.with({ COFFER_IDENTITY: other }).refused('slots list', 4)).toContain(
      'the store cannot be unlocked with COFFER_IDENTITY',
    );
  });

  it('shows the public key to those who open it, and to nobody else', async () => {
    const place = machine();
    const recipient = recipientOfIdentity(age);
    await place.ok(['init', '-q', '--recipient', recipient]);
    const opened = place.with({ COFFER_IDENTITY: age });
    expect(await opened.ok('slots list')).toContain(`recipient (${recipient})`);
    const long = recipientOfIdentity(hybrid);
    await opened.ok(['slots', 'add', '-q', '--recipient', long]);
    const shown = await opened.ok('slots list');
    expect(shown).toContain(`${long.slice(0, 40)}`);
    expect(shown).not.toContain(long);
    expect(await place.ok('status')).toMatch(/opens with\s+recipient, recipient/);
    for (const path of readdirSync(place.file('store'), { recursive: true, encoding: 'utf8' })) {
      const file = join(place.file('store'), path);
      if (spawnSync('test', ['-f', file]).status === 0)
        expect(readFileSync(file, 'utf8')).not.toContain(recipient);
    }
  });

  it('goes on opening after a rekey, from a backup and from a copy, and doctor finds nothing', async () => {
    const place = machine();
    await place.ok(['init', '-q', '--recipient', recipientOfIdentity(age)]);
    const opened = place.with({ COFFER_IDENTITY: age });
    await opened.ok('transit keys create -q orders');
    await opened.ok('rekey -q');
    expect(await opened.ok('transit keys list')).toContain('orders');
    await opened.ok('doctor');
    await opened.ok('store backup -q saved');
    await opened.ok(['store', 'restore', '-q', 'saved', '--store', place.file('restored')]);
    expect(await opened.ok(['transit', 'keys', 'list', '--store', place.file('restored')])).toContain(
      'orders',
    );
    await opened.ok(['store', 'copy', '-q', place.file('store'), place.file('copied')]);
    expect(await opened.ok(['transit', 'keys', 'list', '--store', place.file('copied')])).toContain('orders');
  });

  it('is served with the key of the slot, which workers and an unsealed server need again', async () => {
    const place = machine();
    await place.ok(['init', '-q', '--recipient', recipientOfIdentity(age)]);
    const credentials = credentialsFor(sessionOf(place.with({ COFFER_IDENTITY: age })));
    const server = await startServer({ location: place.file('store'), credentials, workers: 2 });
    const health = await fetch(`${server.address}/v1/sys/health`);
    expect(await health.json()).toMatchObject({ sealed: false });
  });

  it('is refused by name where what is given is no public key that can be encrypted to', async () => {
    const place = machine();
    const init = (recipient: string) => place.refused(['init', '--recipient', recipient], 2);
    expect(await init('orders')).toContain('a key inside the store cannot unlock it');
    expect(await init(age)).toContain('this is a private key');
    expect(await init(mistyped(recipientOfIdentity(age)))).toContain('checksum');
    expect(await init('@missing')).toContain('missing');
    makeSshKey(place.file('.ssh/ecdsa'), 'ecdsa', '');
    const ecdsa = readFileSync(place.file('.ssh/ecdsa.pub'), 'utf8');
    expect((await place.run(['init', '--recipient', ecdsa])).stderr).toContain('ecdsa-sha2-nistp256');
    expect(readdirSync(place.directory)).not.toContain('store');
  });
});

describe('keys at their usual places', () => {
  it('open the stores that were made for them on this machine, without a variable', async () => {
    const place = machine();
    await place.ok(['init', '-q', '--recipient', sshKey(place, 'id_ed25519')]);
    await place.ok('transit keys create -q orders');
    const later = machine();
    mkdirSync(later.file('.config/coffer'), { recursive: true });
    writeFileSync(later.file('.config/coffer/identity'), `${age}\n`, { mode: 0o600 });
    await later.with({ COFFER_MASTER_KEY: MASTER_KEY }).ok('init -q');
    await later
      .with({ COFFER_MASTER_KEY: MASTER_KEY })
      .ok(['slots', 'add', '-q', '--recipient', recipientOfIdentity(age)]);
    expect(await kindsOf(later)).toEqual(['raw', 'recipient']);
  });

  it('open a store from elsewhere only after they were named once', async () => {
    const place = machine();
    const key = sshKey(place, 'id_ed25519');
    await place.ok(['init', '-q', '--recipient', key]);
    const elsewhere = copyOf(place);
    cpSync(place.file('.ssh'), elsewhere.file('.ssh'), { recursive: true });
    const refusal = await elsewhere.refused('transit keys list', 4);
    expect(refusal).toContain('the store is locked');
    expect(refusal).toContain('coffer unlock --identity FILE');
    expect(
      await kindsOf(elsewhere.with({ COFFER_IDENTITY_FILE: elsewhere.file('.ssh/id_ed25519') })),
    ).toHaveLength(1);
    await elsewhere.ok('transit keys list -q');
  });

  it('are not what the hint names first where a passphrase opens the store as well', async () => {
    const place = machine();
    const owner = place.with({ COFFER_PASSPHRASE: 'five words of a poem' });
    await owner.ok('init -q');
    await owner.ok(['slots', 'add', '-q', '--recipient', sshKey(place, 'id_ed25519')]);
    const refusal = await copyOf(place).refused('transit keys list', 4);
    expect(refusal).toContain('run "coffer unlock" on a terminal');
  });

  it('do not open a store that somebody put in the place of a known one, and named ones say so', async () => {
    const place = machine();
    const key = sshKey(place, 'id_ed25519');
    await place.ok(['init', '-q', '--recipient', key]);
    await place.ok('transit keys create -q orders');
    // Whoever can write there knows the public key, and has a store that it opens.
    const attacker = machine();
    await attacker.ok(['init', '-q', '--recipient', key]);
    rmSync(place.file('store'), { recursive: true });
    renameSync(attacker.file('store'), place.file('store'));
    expect(await place.refused('transit keys list', 4)).toContain('this store may have been replaced');
    const named = place.with({ COFFER_IDENTITY_FILE: place.file('.ssh/id_ed25519') });
    expect(await named.refused('transit keys list', 4)).toContain('this store may have been replaced');
  });

  it('are not used, nor asked for a passphrase, by a store that has no slot for one', async () => {
    const place = machine();
    sshKey(place, 'id_ed25519');
    await place.with({ COFFER_MASTER_KEY: MASTER_KEY }).ok('init -q');
    const refusal = await place.with({ COFFER_IDENTITY: 'no key at all' }).refused('transit keys list', 4);
    expect(refusal).toContain('it can be unlocked with a master key');
  });
});

describe('a private key that does not open the store', () => {
  let place: Place;
  beforeAll(async () => {
    place = machine();
    await place.ok(['init', '-q', '--recipient', recipientOfIdentity(age)]);
  });

  it('is named, and another secret still can', async () => {
    expect(await place.with({ COFFER_IDENTITY: other }).refused('transit keys list', 4)).toBe(
      'coffer: the store cannot be unlocked with COFFER_IDENTITY (it can be unlocked with an SSH key or age identity)',
    );
    const file = place.file('other');
    writeFileSync(file, `${other}\n`, { mode: 0o600 });
    expect(await place.with({ COFFER_IDENTITY_FILE: file }).refused('transit keys list', 4)).toContain(file);
    const both = copyOf(place).with({ COFFER_IDENTITY: age, COFFER_NEW_PASSPHRASE: 'correct horse' });
    await both.ok('slots add -q --passphrase');
    await both
      .with({ COFFER_IDENTITY: other, COFFER_PASSPHRASE: 'correct horse' })
      .ok('transit keys list -q');
  });

  it.each([
    ['missing', () => ({ COFFER_IDENTITY_FILE: place.file('nowhere') }), 'nowhere'],
    ['none', () => ({ COFFER_IDENTITY: 'nonsense' }), 'no private key in COFFER_IDENTITY'],
    ['mistyped', () => ({ COFFER_IDENTITY: mistyped(age) }), 'coffer: '],
    ['readable for others', () => ({ COFFER_IDENTITY_FILE: exposed() }), 'chmod 600'],
  ])('is told when it is %s, and never shown', async (_, environment, part) => {
    const { exitCode, stderr } = await place.with(environment()).run('transit keys list');
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(part);
    expect(stderr).not.toContain(age.slice(20, 60));
  });

  function exposed(): string {
    const file = place.file('exposed');
    writeFileSync(file, `${age}\n`);
    chmodSync(file, 0o644);
    return file;
  }

  it('is told of a slot whose encrypted secret was cut, altered or exchanged', async () => {
    const copy = copyOf(place);
    const [name = ''] = readdirSync(copy.file('store/generation-1/slots'));
    const path = copy.file(`store/generation-1/slots/${name}`);
    const { parseChecked, printChecked } = await import('../../src/store/checked-json.ts');
    const { checksum: _, ...slot } = { checksum: '', wrapped: '', ...parseChecked(readFileSync(path)) };
    const bytes = Buffer.from(String(slot.wrapped), 'base64');
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(changed.length - 1) ^ 1, changed.length - 1);
    const opened = copy.with({ COFFER_IDENTITY: age });
    for (const wrapped of [bytes.subarray(0, 100), changed, Buffer.from('nonsense')]) {
      writeFileSync(path, printChecked({ ...slot, wrapped: wrapped.toString('base64') }));
      expect(await opened.refused('transit keys list', 4)).toContain(
        'cannot be unlocked with COFFER_IDENTITY',
      );
    }
    for (const wrapped of ['', undefined, 7, 'A'.repeat(100_000)]) {
      writeFileSync(path, printChecked({ ...slot, wrapped }));
      expect((await opened.run('transit keys list')).stderr).toContain('is damaged');
    }
  });
});

describe('an SSH key with a passphrase', () => {
  /** A key in PKCS #8, whose public half lies beside it. */
  function locked(place: Place, name = 'id_rsa'): string {
    const key = sshKey(place, name, 'rsa');
    const options = ['-p', '-m', 'PKCS8', '-P', '', '-N', 'open sesame', '-f', place.file(`.ssh/${name}`)];
    expect(spawnSync('ssh-keygen', ['-q', ...options]).status).toBe(0);
    return key;
  }

  it('cannot be used where nobody can be asked, which is said', async () => {
    const place = machine();
    await place.ok(['init', '-q', '--recipient', locked(place)]);
    expect(await place.refused('transit keys list', 4)).toContain('id_rsa is encrypted: cannot prompt');
  });

  it('is asked for once, and only if a slot is for it; after a wrong answer, the passphrase of the store is', async () => {
    const place = machine();
    const key = locked(place);
    const passphrase = { COFFER_PASSPHRASE: 'x y z' };
    await place.with(passphrase).ok(['init', '-q', '--passphrase', '--recipient', key]);
    expect(await questionsOf(place, { id_rsa: 'open sesame' })).toEqual(['id_rsa']);
    expect(await questionsOf(place, { id_rsa: 'wrong', Passphrase: 'x y z' })).toEqual([
      'id_rsa',
      'Passphrase',
    ]);
    const another = machine();
    cpSync(place.file('.ssh'), another.file('.ssh'), { recursive: true });
    await another
      .with(passphrase)
      .ok(['init', '-q', '--passphrase', '--recipient', recipientOfIdentity(age)]);
    expect(await questionsOf(another, { Passphrase: 'x y z' })).toEqual(['Passphrase']);
  });

  /** Opens the store of a place. @returns the last words of what was asked */
  async function questionsOf(place: Place, answers: Readonly<Record<string, string>>): Promise<string[]> {
    const asked: string[] = [];
    const session = sessionOf(place, (question) => {
      const [, about = ''] = /([^ /]*)$/.exec(question) ?? [];
      asked.push(about);
      return answers[about] ?? '';
    });
    (await openWith(session, credentialsFor(session))).close();
    return asked;
  }

  it.skipIf(!canUseTerminals)('unlocks the store for the agent when it is named', async () => {
    const place = machine();
    const key = locked(place, 'work');
    await place.ok(['init', '-q', '--recipient', key]);
    const runtime = place.file('run');
    mkdirSync(runtime, { mode: 0o700 });
    const agent = place.with({ XDG_RUNTIME_DIR: runtime });
    const { exitCode, text } = onTerminal(
      agent,
      'coffer unlock --identity .ssh/work && coffer transit keys list; coffer lock',
      {
        steps: [['Passphrase for [^ ]*work', 'open sesame\r']],
      },
    );
    expect(text).toContain('Unlocked until idle');
    expect(exitCode).toBe(0);
  });
});
