import {
  Decrypter,
  generateHybridIdentity,
  generateX25519Identity,
  identityToRecipient,
} from 'age-encryption';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/ground/random.ts';
import { armored, dearmored } from '../../../../src/transit/envelope/age/armor.ts';
import { isAge } from '../../../../src/transit/envelope/age/detect.ts';
import {
  decryptAge,
  decryptAgeRange,
  encryptAge,
  readAge,
  rewrapAge,
} from '../../../../src/transit/envelope/age/file.ts';
import { printAgeHeader, readAgeHeader } from '../../../../src/transit/envelope/age/header.ts';
import { passphraseRecipient } from '../../../../src/transit/envelope/age/passphrase.ts';
import {
  ageIdentity,
  ageRecipient,
  type Recipient,
} from '../../../../src/transit/envelope/age/recipients.ts';
import { Lookahead } from '../../../../src/transit/envelope/lookahead.ts';
import { parseBech32, printBech32 } from '../../../../src/transit/key-types/age/bech32.ts';
import { Collected, MemoryFile, sourceOf } from '../in-memory.ts';

const CHUNK = 65_536;

async function sealed(
  recipients: readonly Recipient[],
  plaintext: Uint8Array,
  armor = false,
): Promise<Buffer> {
  const sink = new Collected();
  await encryptAge({ recipients, armor, random: systemRandom, source: sourceOf(plaintext, 10_000), sink });
  return sink.bytes;
}

async function opened(identity: string, bytes: Uint8Array): Promise<Buffer> {
  const sink = new Collected();
  const file = await readAge(new Lookahead(sourceOf(bytes, 777)));
  await decryptAge(file, { identities: [ageIdentity(identity)], sink });
  return sink.bytes;
}

describe('Bech32', () => {
  const bytes = fc.uint8Array({ maxLength: 300 });

  it('brings back what it wrote, in small letters and in capitals', () => {
    fc.assert(
      fc.property(bytes, (data) => {
        const text = printBech32('age-test-', data);
        for (const written of [text, text.toUpperCase()]) {
          expect(parseBech32(written)).toEqual({ prefix: 'age-test-', bytes: Buffer.from(data) });
        }
      }),
    );
  });

  it('finds every single wrong letter', () => {
    fc.assert(
      fc.property(
        bytes,
        fc.nat(),
        fc.constantFrom(...'qpzry9x8gf2tvdw0s3jn54khce6mua7l'),
        (data, at, letter) => {
          const text = printBech32('age', data);
          const place = 4 + (at % (text.length - 4));
          fc.pre(text[place] !== letter);
          expect(() => parseBech32(text.slice(0, place) + letter + text.slice(place + 1))).toThrow(
            'invalid age key',
          );
        },
      ),
    );
  });
});

describe('files in the age format', () => {
  it.each([
    ['X25519', generateX25519Identity],
    ['hybrid', generateHybridIdentity],
  ])(
    'of every length around a chunk are read by age itself, for a recipient of the kind %s',
    async (_, make) => {
      const identity = await make();
      const recipient = ageRecipient(await identityToRecipient(identity));
      for (const length of [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK]) {
        const plaintext = systemRandom.bytes(length);
        const file = await sealed([recipient], plaintext);
        const decrypter = new Decrypter();
        decrypter.addIdentity(identity);
        expect(Buffer.from(await decrypter.decrypt(file)).equals(plaintext)).toBe(true);
        expect((await opened(identity, file)).equals(plaintext)).toBe(true);
        expect((await opened(identity, await sealed([recipient], plaintext, true))).equals(plaintext)).toBe(
          true,
        );
      }
    },
  );

  it('give every part without the rest', async () => {
    const identity = await generateX25519Identity();
    const plaintext = systemRandom.bytes(3 * CHUNK + 100);
    const file = new MemoryFile(await sealed([ageRecipient(await identityToRecipient(identity))], plaintext));
    for (const [offset, length] of [
      [0, 0],
      [5, 10],
      [CHUNK - 3, 6],
      [3 * CHUNK + 99, 5],
    ] as const) {
      const sink = new Collected();
      const request = { identities: [ageIdentity(identity)], sink, range: { offset, length } };
      expect(await decryptAgeRange(file, request)).toBe(plaintext.length);
      expect(sink.bytes).toEqual(plaintext.subarray(offset, offset + length));
    }
  });

  it('keep their body when they get other recipients', async () => {
    const [old, young] = [await generateX25519Identity(), await generateX25519Identity()];
    const plaintext = systemRandom.bytes(2 * CHUNK);
    const before = await sealed([ageRecipient(await identityToRecipient(old))], plaintext);
    const sink = new Collected();
    const recipients = [ageRecipient(await identityToRecipient(young))];
    await rewrapAge(await readAge(new Lookahead(sourceOf(before))), [ageIdentity(old)], recipients, sink);
    expect(sink.bytes.subarray(-2 * CHUNK)).toEqual(before.subarray(-2 * CHUNK));
    expect((await opened(young, sink.bytes)).equals(plaintext)).toBe(true);
    await expect(opened(old, sink.bytes)).rejects.toMatchObject({ kind: 'denied' });
  });

  it('are not made for recipients that do not belong together, or for too many', async () => {
    const classical = ageRecipient(await identityToRecipient(await generateX25519Identity()));
    const hybrid = ageRecipient(await identityToRecipient(await generateHybridIdentity()));
    const passphrase = passphraseRecipient('a', systemRandom, 1);
    const groups = [
      [classical, hybrid],
      [passphrase, classical],
      [passphrase, passphrase],
      Array(1001).fill(classical),
    ];
    for (const recipients of groups as Recipient[][]) {
      await expect(sealed(recipients, Buffer.alloc(1))).rejects.toMatchObject({ kind: 'invalid' });
    }
  });

  it('are not made for points of low order, with which everybody could open them', () => {
    const ones = Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]);
    for (const point of [Buffer.alloc(32), ones]) {
      expect(() => ageRecipient(printBech32('age', point))).toThrow('anyone could decrypt the file');
    }
    expect(() => ageRecipient(printBech32('age1pq', Buffer.alloc(1216, 0xff)))).toThrow(
      'not a valid ML-KEM public key',
    );
    expect(() => ageRecipient(printBech32('age', Buffer.alloc(31)))).toThrow('has 32 bytes, not 31');
    expect(() => ageRecipient(printBech32('age1yubikey', Buffer.alloc(33)))).toThrow('unknown age key type');
  });

  it('are told from others by how they begin', async () => {
    const cases = [
      ['age-encryption.org/v9', true],
      ['\n\n -----BEGIN AGE ENCRYPTED FILE-----\n', true],
      ['-----BEGIN PGP MESSAGE-----\n and more of it', false],
      ['age-encryption.or', false],
      ['', false],
      [' '.repeat(10_000), false],
    ] as const;
    for (const [text, expected] of cases) {
      expect(await isAge(new Lookahead(sourceOf(Buffer.from(text), 7))), text).toBe(expected);
    }
  });
});

describe('a header of age', () => {
  const word = fc.stringMatching(/^[!-~]{1,20}$/);
  const stanza = fc.record({
    type: word,
    args: fc.array(word, { maxLength: 4 }),
    body: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  });

  it('brings back the stanzas that were written, and nothing beyond it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stanza, { minLength: 1, maxLength: 5 }), async (stanzas) => {
        const bytes = printAgeHeader(stanzas, Buffer.alloc(16));
        const source = new Lookahead(sourceOf(Buffer.concat([bytes, Buffer.from('rest')]), 13));
        expect((await readAgeHeader(source)).stanzas).toEqual(stanzas);
        expect(source.taken).toBe(bytes.length);
        expect((await source.peek(10)).toString()).toBe('rest');
      }),
    );
  });
});

describe('armor', () => {
  it('brings back any bytes, in pieces of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 8 }),
        fc.integer({ min: 1, max: 300 }),
        async (pieces, size) => {
          const text = new Collected();
          const sink = armored(text);
          for (const piece of pieces) await sink.write(piece);
          await sink.write(Buffer.from('x'));
          await sink.end();
          const lines = text.bytes.toString().split('\n');
          expect(lines.every((line) => line.length <= 64)).toBe(true);
          const back = dearmored(new Lookahead(sourceOf(text.bytes, size)));
          const found: Buffer[] = [];
          const into = Buffer.alloc(size);
          for (let count = await back.read(into); count > 0; count = await back.read(into)) {
            found.push(Buffer.from(into.subarray(0, count)));
          }
          expect(Buffer.concat(found)).toEqual(Buffer.concat([...pieces, Buffer.from('x')]));
        },
      ),
    );
  });
});
