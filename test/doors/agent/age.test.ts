import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openAgeDoor } from '../../../src/doors/agent/age/age-door.ts';
import {
  parsePluginIdentity,
  parsePluginRecipient,
  pluginIdentity,
  pluginRecipient,
} from '../../../src/doors/agent/age/names.ts';
import type { Desk } from '../../../src/doors/agent/desk.ts';
import { denied } from '../../../src/ground/errors.ts';
import { StanzaLines } from '../../../src/transit/envelope/age/conversation.ts';
import { printStanza } from '../../../src/transit/envelope/age/header.ts';
import { ageRecipient } from '../../../src/transit/envelope/age/recipients.ts';
import { printBech32 } from '../../../src/transit/key-types/age/bech32.ts';
import { p256Kem } from '../../../src/transit/key-types/age/tagged.ts';
import { x25519Kem, xWingKem } from '../../../src/transit/key-types/age/x25519.ts';
import { Connected } from './connected.ts';

const word = fc.stringMatching(/^[\x21-\x7e]{1,40}$/);

describe('stanzas that age and its plugins exchange', () => {
  it('are read as they were written', () => {
    const stanza = fc.record({
      type: word,
      args: fc.array(word, { maxLength: 5 }),
      body: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    });
    fc.assert(
      fc.property(fc.array(stanza), (sent) => {
        const lines = new StanzaLines();
        const text = sent.map(printStanza).join('');
        const found = text
          .split('\n')
          .slice(0, -1)
          .flatMap((line) => lines.add(line) ?? []);
        expect(found).toEqual(sent);
      }),
    );
  });

  it('begin as they must, and end', () => {
    expect(() => new StanzaLines().add('done')).toThrow('malformed stanza');
    expect(() => new StanzaLines().add('-> a\u0000b')).toThrow('malformed stanza');
    const lines = new StanzaLines();
    lines.add('-> msg');
    expect(() => lines.add('A'.repeat(65))).toThrow('too long');
    expect(() => {
      for (let count = 0; count < 1000; count++) lines.add('A'.repeat(64));
    }).toThrow('too long');
  });
});

describe('a key that is confirmed', () => {
  it('is asked about only where a stanza is of its kind', async () => {
    const secret = Buffer.alloc(32, 9);
    const [inbox = '', quantum = ''] = [x25519Kem, xWingKem].map((kem) =>
      printBech32(kem.recipientPrefix, kem.publicOf(secret)),
    );
    const asked: string[] = [];
    const desk: Desk = {
      offers: async () =>
        ['quantum', 'inbox'].map((key) => ({ mount: 'transit', key, uses: ['open'], confirm: true })),
      async run(operation, { name }) {
        if (operation !== 'transit keys read') throw denied('not now');
        return { data: { keys: { 1: { public_key: name === 'inbox' ? inbox : quantum } } } };
      },
      async consent({ key }) {
        asked.push(key);
        throw denied('denied');
      },
      defect: (error) => {
        throw error;
      },
    };
    await openStanza(desk, inbox);
    expect(asked).toEqual(['inbox']);
  });
});

describe('a key on P-256 that is confirmed', () => {
  it('is asked about only where the tag of a stanza is its own', async () => {
    const [mine = '', other = ''] = [9, 8].map((fill) =>
      printBech32(p256Kem.recipientPrefix, p256Kem.publicOf(Buffer.alloc(32, fill))),
    );
    const asked: string[] = [];
    const desk: Desk = {
      offers: async () =>
        ['other', 'mine'].map((key) => ({ mount: 'transit', key, uses: ['open'], confirm: true })),
      run: async (_, { name }) => ({ data: { keys: { 1: { public_key: name === 'mine' ? mine : other } } } }),
      async consent({ key }) {
        asked.push(key);
        throw denied('it was not allowed');
      },
      defect: (error) => {
        throw error;
      },
    };
    await openStanza(desk, mine);
    expect(asked).toEqual(['mine']);
  });
});

describe('a plugin whose client has hung up', () => {
  const identity = { type: 'add-identity', args: ['AGE-PLUGIN-COFFER-1VVM9ZD'], body: Buffer.alloc(0) };
  const done = { type: 'done', args: [], body: Buffer.alloc(0) };
  const stanza = (file: number) => ({
    type: 'recipient-stanza',
    args: [String(file), 'X25519', 'x'],
    body: Buffer.alloc(32),
  });
  const looksAfter = async (identities: number, files: number, ...more: readonly (typeof done)[]) => {
    let looks = 0;
    const desk: Desk = {
      offers: async () => {
        looks += 1;
        return [];
      },
      run: async () => ({ data: {} }),
      consent: async () => undefined,
      defect: (error) => {
        throw error;
      },
    };
    const said = [
      ...Array.from({ length: identities }, () => identity),
      ...Array.from({ length: files }, (_, file) => stanza(file)),
      done,
      ...more,
    ];
    const text = `identity-v1\n${said.map(printStanza).join('')}`;
    await new Connected(openAgeDoor(desk)).send(Buffer.from(text));
    return looks;
  };

  it('looks at no further identity', async () => {
    expect(await looksAfter(40, 40)).toBeLessThan(3);
  });

  it('goes on for one that has said what it answers', async () => {
    expect(await looksAfter(5, 7, { type: 'ok', args: [], body: Buffer.alloc(0) })).toBe(35);
  });

  it('is refused what is more than any file takes, whoever waits', async () => {
    const ok = { type: 'ok', args: [], body: Buffer.alloc(0) };
    expect(await looksAfter(1024, 4, ok)).toBe(4096);
    expect(await looksAfter(241, 17, ok)).toBe(0);
    expect(await looksAfter(1000, 5, ok)).toBe(0);
  });
});

describe('a conversation with age', () => {
  const nobody: Desk = {
    offers: async () => [],
    run: async () => ({ data: {} }),
    consent: async () => undefined,
    defect: (error) => {
      throw error;
    },
  };
  const answered = async (machine: string, said: readonly { type: string; bytes?: number }[]) => {
    const stanzas = [...said, { type: 'done' }].map(({ type, bytes = 0 }: { type: string; bytes?: number }) =>
      printStanza({ type, args: [], body: Buffer.alloc(bytes) }),
    );
    const answer = await new Connected(openAgeDoor(nobody)).send(
      Buffer.from(`${machine}\n${stanzas.join('')}`),
    );
    return answer.toString();
  };
  const DONE = '-> done\n\n';

  it('ends at a file key that has another length than 16 bytes', async () => {
    const wrap = (bytes: number) => answered('recipient-v1', [{ type: 'wrap-file-key', bytes }]);
    expect([await wrap(15), await wrap(16), await wrap(17)]).toEqual(['', DONE, '']);
  });

  it('has 4,096 stanzas at most, known or not', async () => {
    const said = (machine: string, type: string, count: number) =>
      answered(machine, Array<{ type: string; bytes?: number }>(count).fill({ type, bytes: 16 }));
    expect(await said('identity-v1', 'unknown', 4096)).toBe(DONE);
    expect(await said('identity-v1', 'unknown', 4097)).toBe('');
    expect(await said('recipient-v1', 'wrap-file-key', 4096)).toBe(DONE);
    expect(await said('recipient-v1', 'wrap-file-key', 4097)).toBe('');
  });
});

describe('the names of keys in files of age', () => {
  it('are read as they were written, and are of the form that age wants', () => {
    const name = fc.record({
      mount: fc.stringMatching(/^[a-z]{1,20}(?:\/[a-z]{1,20})?$/),
      key: fc.stringMatching(/^\w{1,40}$/),
    });
    fc.assert(
      fc.property(name, (key) => {
        expect(parsePluginRecipient(pluginRecipient(key))).toEqual(key);
        expect(parsePluginIdentity(pluginIdentity(key))).toEqual(key);
        expect(pluginRecipient(key)).toMatch(/^age1coffer1[a-z0-9]+$/);
        expect(pluginIdentity(key)).toMatch(/^AGE-PLUGIN-COFFER-1[A-Z0-9]+$/);
      }),
    );
  });

  it('may be none for an identity', () => {
    // What "age -j coffer" sends.
    expect(parsePluginIdentity('AGE-PLUGIN-COFFER-1VVM9ZD')).toBeUndefined();
  });

  it.each([
    'age1coffer1',
    'AGE-PLUGIN-OTHER-1',
    pluginIdentity({ mount: 'transit', key: 'k' }),
    `${pluginRecipient({ mount: 'transit', key: 'k' })}q`,
    pluginRecipient({ mount: '', key: 'k' }),
    pluginRecipient({ mount: 'transit', key: '' }),
    printBech32('age1coffer', Buffer.from('orders')),
    printBech32('age1other', Buffer.from('transit/orders')),
  ])('are refused for a recipient in %j', (text) => {
    expect(() => parsePluginRecipient(text)).toThrow();
  });
});

/** Asks the door, as age does, to open what is written to a recipient. */
async function openStanza(desk: Desk, recipient: string): Promise<void> {
  const { type, args, body } = await ageRecipient(recipient).wrap(Buffer.alloc(16));
  const said = [
    { type: 'add-identity', args: ['AGE-PLUGIN-COFFER-1VVM9ZD'], body: Buffer.alloc(0) },
    { type: 'recipient-stanza', args: ['0', type, ...args], body: Buffer.from(body) },
    { type: 'done', args: [], body: Buffer.alloc(0) },
    { type: 'ok', args: [], body: Buffer.alloc(0) },
  ];
  const text = `identity-v1\n${said.map(printStanza).join('')}`;
  await new Connected(openAgeDoor(desk)).send(Buffer.from(text));
}
