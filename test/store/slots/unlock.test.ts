import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { initStore } from '../../../src/store/administration/init.ts';
import { backendAt } from '../../../src/store/backends/registry.ts';
import { readHeader } from '../../../src/store/header.ts';
import { openStore } from '../../../src/store/open.ts';
import type { CreatedSlot, SlotRequest } from '../../../src/store/slots/slot-kind.ts';
import { type Credential, unlock } from '../../../src/store/slots/unlock.ts';
import { replacing } from '../struck-backend.ts';
import { KEY, rawCredential, temporaryDirectory } from '../temporary-store.ts';

vi.mock('node:crypto', async (original) =>
  (await import('../../light-argon2.ts')).withLightArgon2(await original()),
);

const bytes = (text: string): Uint8Array => Buffer.from(text);
const OTHER_KEY = Uint8Array.from(KEY, (byte) => 255 - byte);

const passphrase = (text: string | undefined): Credential => ({
  kind: 'passphrase',
  source: 'the passphrase',
  reveal: async () => text,
});
const keyFile = (content: Uint8Array): Credential => ({
  kind: 'key-file',
  source: 'the key file',
  reveal: () => Uint8Array.from(content),
});
const command = (output: string): Credential => ({
  kind: 'command',
  source: 'the command',
  reveal: () => bytes(output),
});
const shares = (...texts: string[]): Credential => ({
  kind: 'shares',
  source: 'the shares',
  reveal: () => texts,
});
const neverAsked: Credential = {
  kind: 'passphrase',
  source: 'the prompt',
  reveal: () => {
    throw new Error('asked for a passphrase that cannot help');
  },
};

async function storeWith(...slots: SlotRequest[]): Promise<{
  directory: string;
  slots: readonly CreatedSlot[];
  open: (...given: Credential[]) => Promise<string>;
}> {
  const directory = join(temporaryDirectory(), 'store');
  const created = await initStore({ location: directory, slots });
  const open = async (...credentials: Credential[]): Promise<string> => {
    const store = await openStore({ location: directory, credentials });
    expect(store.id).toBe(created.id);
    return store.keyring.slotId;
  };
  return { directory, slots: created.slots, open };
}

const raw = (key = KEY): SlotRequest => ({ kind: 'raw', key: Uint8Array.from(key) });

describe('unlocking', () => {
  it('takes the secret of any slot, and says which slot it opened', async () => {
    const { slots, open } = await storeWith(
      raw(),
      { kind: 'passphrase', passphrase: 'correct horse' },
      { kind: 'key-file', content: bytes('x'.repeat(100)) },
      { kind: 'command', output: bytes('from a password manager\n') },
      { kind: 'shares', count: 3, threshold: 2 },
    );
    const ids = slots.map(({ id }) => id);
    const [one = '', , three = ''] = slots[4]?.shareTexts ?? [];
    expect(await open(rawCredential())).toBe(ids[0]);
    expect(await open(passphrase('correct horse'))).toBe(ids[1]);
    expect(await open(keyFile(bytes('x'.repeat(100))))).toBe(ids[2]);
    expect(await open(command('from a password manager'))).toBe(ids[3]);
    expect(await open(shares(three, one))).toBe(ids[4]);
  });

  it('never stretches or asks for a passphrase when a key opens the store', async () => {
    const { slots, open } = await storeWith({ kind: 'passphrase', passphrase: 'correct horse' }, raw());
    expect(await open(neverAsked, rawCredential())).toBe(slots[1]?.id);
  });

  it('asks a person only after everything else, and then in the order of the questions', async () => {
    const { open } = await storeWith(
      { kind: 'passphrase', passphrase: 'right' },
      { kind: 'shares', count: 2, threshold: 2 },
    );
    const asked: string[] = [];
    const asking = (credential: Credential): Credential => ({ ...credential, asks: true });
    const nothing = (kind: 'passphrase' | 'shares'): Credential =>
      asking({ kind, source: kind, reveal: () => void asked.push(kind) } as Credential);
    await open(nothing('passphrase'), nothing('shares'), passphrase('right'));
    expect(asked).toEqual([]);
    await expect(open(nothing('passphrase'), nothing('shares'), passphrase('wrong'))).rejects.toMatchObject({
      kind: 'denied',
      message: 'the store cannot be unlocked with the passphrase',
    });
    expect(asked).toEqual(['passphrase', 'shares']);
  });

  it('takes another answer of the credential that has one, and reveals the others once', async () => {
    const { open } = await storeWith({ kind: 'passphrase', passphrase: 'right' });
    const revealed: string[] = [];
    const noting = (kind: 'command' | 'passphrase', ...answers: string[]): Credential => {
      const reveal = (): string | Uint8Array | undefined => {
        const answer = answers.shift();
        revealed.push(`${kind}: ${answer}`);
        return kind === 'command' ? bytes(answer ?? '') : answer;
      };
      return { kind, source: kind, reveal, again: () => answers.length > 0 } as Credential;
    };
    await open(noting('command', 'other'), noting('passphrase', 'wrong', 'right'));
    expect(revealed).toEqual(['command: other', 'passphrase: wrong', 'passphrase: right']);
    await expect(open(noting('passphrase', 'wrong', 'Right'))).rejects.toMatchObject({
      kind: 'denied',
      message: 'the store cannot be unlocked with passphrase',
    });
  });

  it('takes more recovery shares where there were too few, from whoever has more', async () => {
    const { slots, open } = await storeWith(raw(), { kind: 'shares', count: 3, threshold: 2 });
    const [one = '', two = ''] = slots[1]?.shareTexts ?? [];
    const answers = [[one], [one, two]];
    const asked: Credential = {
      kind: 'shares',
      source: 'the shares',
      asks: true,
      reveal: () => answers.shift(),
      again: () => answers.length > 0,
    };
    expect(await open(asked)).toBe(slots[1]?.id);
    await expect(open(shares(one))).rejects.toMatchObject({
      kind: 'denied',
      message: '2 different recovery shares are needed, 1 given',
    });
  });

  it('names as tried no question that it had no reason to ask', async () => {
    const { open } = await storeWith({ kind: 'passphrase', passphrase: 'right' });
    await expect(open({ ...shares('never read'), asks: true }, passphrase('wrong'))).rejects.toMatchObject({
      kind: 'denied',
      message: 'the store cannot be unlocked with the passphrase',
    });
  });

  it('never asks for a passphrase when no slot takes one', async () => {
    const { open } = await storeWith(raw());
    await expect(open(neverAsked)).rejects.toMatchObject({ kind: 'sealed', message: 'the store is locked' });
  });

  it('goes on to the next credential when one does not fit', async () => {
    const { slots, open } = await storeWith(raw(), { kind: 'passphrase', passphrase: 'correct horse' });
    expect(await open(passphrase('correct horse'), rawCredential(OTHER_KEY))).toBe(slots[1]?.id);
  });

  it('tries every slot that a secret could be for', async () => {
    const { slots, open } = await storeWith(
      raw(OTHER_KEY),
      raw(),
      {
        kind: 'passphrase',
        passphrase: 'first',
      },
      { kind: 'passphrase', passphrase: 'second' },
    );
    expect(await open(rawCredential())).toBe(slots[1]?.id);
    expect(await open(passphrase('second'))).toBe(slots[3]?.id);
  });

  it('is sealed without a credential, and says what would open it', async () => {
    const { open } = await storeWith(raw(), { kind: 'passphrase', passphrase: 'correct horse' });
    for (const credentials of [[], [passphrase(undefined)], [passphrase('')]]) {
      await expect(open(...credentials)).rejects.toMatchObject({
        kind: 'sealed',
        message: 'the store is locked',
        hint: expect.stringMatching(
          /^it can be unlocked with (a master key or a passphrase|a passphrase or a master key)$/,
        ),
      });
    }
  });

  it.each([
    ['a wrong passphrase', passphrase('Correct horse'), 'the passphrase'],
    ['a wrong key', rawCredential(OTHER_KEY), 'the test key'],
    ['a wrong key file', keyFile(bytes('y'.repeat(100))), 'the key file'],
    ['the output of a command', command('something else'), 'the command'],
  ])('is denied with %s', async (_, credential, source) => {
    const { open } = await storeWith(raw(), { kind: 'passphrase', passphrase: 'correct horse' });
    await expect(open(credential)).rejects.toMatchObject({
      kind: 'denied',
      message: `the store cannot be unlocked with ${source}`,
      hint: expect.stringContaining('it can be unlocked with'),
    });
  });

  it('names after a wrong secret what else opens it, or says that nothing does', async () => {
    const alone = await storeWith({ kind: 'passphrase', passphrase: 'correct horse' });
    await expect(alone.open(passphrase('wrong'))).rejects.toMatchObject({
      hint: 'nothing else unlocks it: without the right secret, its data is lost',
    });
    const two = await storeWith(
      { kind: 'passphrase', passphrase: 'correct horse' },
      { kind: 'shares', count: 3, threshold: 2 },
    );
    await expect(two.open(passphrase('wrong'))).rejects.toMatchObject({
      hint: 'it can be unlocked with recovery shares',
    });
  });

  it('is denied with a key when only a passphrase would do, without asking for one', async () => {
    const { open } = await storeWith({ kind: 'passphrase', passphrase: 'correct horse' });
    await expect(open(rawCredential())).rejects.toMatchObject({
      kind: 'denied',
      message: 'the store cannot be unlocked with the test key',
      hint: 'it can be unlocked with a passphrase',
    });
  });

  it('says that it is locked where nothing was given, though a slot is damaged, or no share was', async () => {
    const { directory, slots, open } = await storeWith(
      raw(),
      { kind: 'passphrase', passphrase: 'right' },
      { kind: 'shares', count: 2, threshold: 2 },
    );
    const locked = { kind: 'sealed', message: 'the store is locked' };
    const nothing: readonly Credential[] = [
      shares(),
      { kind: 'passphrase', source: 'nobody', reveal: () => Buffer.alloc(0) },
    ];
    for (const each of nothing) await expect(open(each)).rejects.toMatchObject(locked);
    writeFileSync(join(directory, 'generation-1', 'slots', `${slots[0]?.id}.json`), 'damaged');
    for (const given of [[], ...nothing.map((each) => [each])])
      await expect(open(...given)).rejects.toMatchObject(locked);
    await expect(open(passphrase('wrong'))).rejects.toMatchObject({ kind: 'corrupt' });
    expect(await open(passphrase('right'))).toBe(slots[1]?.id);
  });

  it('goes by the slots of the generation that there is, though they were read in another', async () => {
    const { directory } = await storeWith(raw());
    const backend = await backendAt(directory);
    const { id } = await readHeader(backend);
    let looks = 0;
    const state = async () => ({ generation: looks++ < 1 ? 2 : 1, revision: 5 });
    const moved = replacing(backend, { state });
    expect((await unlock(moved, id, [rawCredential()])).storeId).toBe(id);
    expect(looks).toBe(4);
    backend.close();
  });

  it('takes a passphrase however its accents were typed', async () => {
    const { open } = await storeWith({ kind: 'passphrase', passphrase: 'caf\u00e9' });
    await expect(open(passphrase('cafe\u0301'))).resolves.toBeDefined();
  });

  it.each([
    ['base64', `${Buffer.from(KEY).toString('base64')}\n`],
    ['hex', Buffer.from(KEY).toString('hex')],
  ])('takes a master key in %s from a file or a command as that key', async (_, text) => {
    const { open } = await storeWith(raw());
    await expect(open(keyFile(bytes(text)))).resolves.toBeDefined();
    await expect(open(command(text))).resolves.toBeDefined();
    const other = await storeWith({ kind: 'key-file', content: bytes(text) });
    await expect(other.open(rawCredential())).resolves.toBeDefined();
    await expect(other.open(keyFile(KEY))).resolves.toBeDefined();
  });

  it('takes nothing for recovery shares but recovery shares', async () => {
    const { open } = await storeWith({ kind: 'shares', count: 2, threshold: 2 });
    await expect(open(rawCredential())).rejects.toMatchObject({ kind: 'denied' });
    await expect(open(shares('nonsense'))).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('overwrites the bytes that it was given', async () => {
    const { open } = await storeWith(raw());
    const key = Uint8Array.from(KEY);
    await open({ kind: 'raw', source: 'the key', reveal: () => key });
    expect(key).toEqual(new Uint8Array(32));
  });

  it.each([
    ['an empty passphrase', { kind: 'passphrase', passphrase: '' }, 'the passphrase must not be empty'],
    ['a short key', { kind: 'raw', key: new Uint8Array(31) }, 'a master key must be 32 bytes, got 31'],
    [
      'a short key file',
      { kind: 'key-file', content: new Uint8Array(31) },
      'a key file must hold at least 32 bytes, this one has 31',
    ],
    ['a silent command', { kind: 'command', output: bytes('\n') }, 'the command printed nothing'],
    [
      'a binary command',
      { kind: 'command', output: Uint8Array.of(0xff, 0xfe) },
      'the command must print a master key or a passphrase as UTF-8 text',
    ],
    ['one share', { kind: 'shares', count: 1, threshold: 1 }, 'the number of shares must be 2 to 255'],
    ['256 shares', { kind: 'shares', count: 256, threshold: 2 }, 'the number of shares must be 2 to 255'],
    [
      'a threshold of one',
      { kind: 'shares', count: 3, threshold: 1 },
      'the threshold must be at least 2, and at most the number of shares, 3',
    ],
    [
      'a threshold above the count',
      { kind: 'shares', count: 3, threshold: 4 },
      'the threshold must be at least 2, and at most the number of shares, 3',
    ],
  ] satisfies [string, SlotRequest, string][])(
    'refuses to make a slot from %s',
    async (_, request, message) => {
      const directory = join(temporaryDirectory(), 'store');
      await expect(initStore({ location: directory, slots: [request] })).rejects.toMatchObject({
        kind: 'invalid',
        message,
      });
      expect(() => readdirSync(directory)).toThrow('ENOENT');
    },
  );

  it('refuses to make a store that nothing opens', async () => {
    const directory = join(temporaryDirectory(), 'store');
    await expect(initStore({ location: directory, slots: [] })).rejects.toMatchObject({
      kind: 'invalid',
      message: 'a store needs at least one key slot',
    });
  });
});

describe('a damaged slot', () => {
  const fileOf = (directory: string, id: string): string =>
    join(directory, 'generation-1', 'slots', `${id}.json`);

  it('is named when its secret is given, and hides no other slot', async () => {
    const { directory, slots, open } = await storeWith(raw(), raw(OTHER_KEY));
    const path = fileOf(directory, slots[0]?.id ?? '');
    const intact = readFileSync(path);
    for (let i = 0; i < intact.length; i += 7) {
      const flipped = Buffer.from(intact);
      flipped.writeUInt8(flipped.readUInt8(i) ^ 0x20, i);
      writeFileSync(path, flipped);
      await expect(open(rawCredential())).rejects.toMatchObject({
        kind: 'corrupt',
        message: `${path} is damaged`,
      });
      expect(await open(rawCredential(OTHER_KEY))).toBe(slots[1]?.id);
    }
  });

  it('is told apart from one of a newer format', async () => {
    const { directory, slots, open } = await storeWith(raw());
    const path = fileOf(directory, slots[0]?.id ?? '');
    const { parseChecked, printChecked } = await import('../../../src/store/checked-json.ts');
    const { checksum: _, ...body } = { checksum: '', ...parseChecked(readFileSync(path)) };
    writeFileSync(path, printChecked({ ...body, format: 2 }));
    await expect(open(rawCredential())).rejects.toMatchObject({
      kind: 'corrupt',
      message: `${path} was created by a newer Coffer (format 2)`,
    });
  });
});
