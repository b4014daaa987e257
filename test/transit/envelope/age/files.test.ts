import {
  Decrypter,
  generateHybridIdentity,
  generateX25519Identity,
  identityToRecipient,
} from 'age-encryption';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/ground/random.ts';
import { isAge } from '../../../../src/transit/envelope/age/detect.ts';
import {
  armored,
  dearmored,
  decryptAge,
  decryptAgeRange,
  encryptAge,
  readAge,
  rewrapAge,
} from '../../../../src/transit/envelope/age/file.ts';
import { printAgeHeader, readAgeHeader } from '../../../../src/transit/envelope/age/header.ts';
import { passphraseIdentity, passphraseRecipient } from '../../../../src/transit/envelope/age/passphrase.ts';
import {
  ageIdentity,
  ageRecipient,
  type Recipient,
} from '../../../../src/transit/envelope/age/recipients.ts';
import { Lookahead } from '../../../../src/transit/envelope/ports.ts';
import { parseBech32, printBech32 } from '../../../../src/transit/key-types/age/bech32.ts';
import { refusal, refused } from '../../../refusal.ts';
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

  it('does not mix small letters and capitals', () => {
    const text = printBech32('age', Buffer.alloc(32, 7));
    for (const mixed of [text.replace('a', 'A'), text.toUpperCase().replace('A', 'a')]) {
      expect(refusal(() => parseBech32(mixed)).message).toBe(
        'invalid age key: it mixes upper-case and lower-case letters',
      );
    }
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

  /** Any letters with the checksum that belongs to them (BIP-173). */
  const checked = (prefix: string, letters: string): string => {
    const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
    const codes = [...prefix].map((letter) => letter.charCodeAt(0));
    const values = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
    for (const letter of letters) values.push(alphabet.indexOf(letter));
    let sum = 1;
    for (const value of [...values, 0, 0, 0, 0, 0, 0]) {
      const top = sum >>> 25;
      sum = ((sum & 0x1ffffff) << 5) ^ value;
      for (const [bit, mixed] of [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3].entries())
        if ((top >>> bit) & 1) sum ^= mixed;
    }
    const check = [25, 20, 15, 10, 5, 0].map((shift) => alphabet[((sum ^ 1) >>> shift) & 31]);
    return `${prefix}1${letters}${check.join('')}`;
  };

  it('takes texts of up to 4,096 characters, with all bits of the bytes and no others', () => {
    expect(checked('age', 'qqqqq')).toBe(printBech32('age', Buffer.alloc(3)));
    // 12 characters beside the letters, of which 8 are 5 bytes.
    const longest = printBech32('age-x', Buffer.alloc((4084 / 4) * 2.5));
    expect([longest.length, parseBech32(longest).bytes.length]).toEqual([4096, 2552]);
    expect(parseBech32(checked('age', '')).bytes).toHaveLength(0);
    for (const [text, why] of [
      [printBech32('age--x', Buffer.alloc(2552)), 'it is truncated, or not an age key'],
      [printBech32('', Buffer.alloc(8)), 'it is truncated, or not an age key'],
      ['age1qqqqq', 'it is truncated, or not an age key'],
      [printBech32('a e', Buffer.alloc(8)), 'it has an invalid character'],
      [printBech32('a\u{7f}e', Buffer.alloc(8)), 'it has an invalid character'],
      [printBech32('\u{e4}ge', Buffer.alloc(8)), 'it has an invalid character'],
      [printBech32('age', Buffer.alloc(8)).replace('1q', '1b'), 'it has an invalid character'],
      [printBech32('age', Buffer.alloc(8)).replace('1q', '1\u{e4}'), 'it has an invalid character'],
      [checked('age', 'qqqqp'), 'its padding is wrong'],
      [checked('age', 'qqqqqq'), 'its padding is wrong'],
    ] as const)
      expect(() => parseBech32(text), text.slice(0, 20)).toThrow(`invalid age key: ${why}`);
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
    const hybrid = printBech32('age1pq', Buffer.concat([Buffer.alloc(1184), ones]));
    expect(() => ageRecipient(hybrid)).toThrow('anyone could decrypt the file');
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
  const headerOf = (text: string | Buffer) => readAgeHeader(new Lookahead(sourceOf(Buffer.from(text))));

  it('has 1 to 1,000 recipients', async () => {
    const one = { type: 'x', args: [], body: Buffer.alloc(0) };
    const bytes = printAgeHeader(Array(1000).fill(one), Buffer.alloc(16));
    expect((await headerOf(bytes)).stanzas).toHaveLength(1000);
    expect(refusal(() => printAgeHeader(Array(1001).fill(one), Buffer.alloc(16)))).toEqual({
      kind: 'invalid',
      message: 'a file can have at most 1000 recipients',
      field: 'recipient',
    });
    const more = bytes.toString().replace('-> x\n\n', '-> x\n\n-> x\n\n');
    expect(await refused(headerOf(more))).toMatchObject({ kind: 'inauthentic' });
    const mac = 'A'.repeat(43);
    expect(await refused(headerOf(`age-encryption.org/v1\n--- ${mac}\n`))).toMatchObject({
      kind: 'inauthentic',
      message: expect.stringContaining('its header has no recipients'),
    });
  });

  it('asks for a passphrase with a work factor of up to 2^22, and refuses a greater one before', async () => {
    const asked = new Error('the passphrase was asked for');
    const identity = passphraseIdentity(() => Promise.reject(asked));
    const unwrap = (factor: string) =>
      identity.unwrap([{ type: 'scrypt', args: ['A'.repeat(22), factor], body: Buffer.alloc(32) }]);
    await expect(unwrap('22')).rejects.toBe(asked);
    expect(await refused(Promise.resolve(unwrap('23')))).toMatchObject({
      kind: 'invalid',
      message: 'the scrypt work factor is too high: 2^23',
    });
    for (const factor of ['0', '022', '1000', '1e1', ''])
      expect(await refused(Promise.resolve(unwrap(factor)))).toMatchObject({
        kind: 'inauthentic',
        message: expect.stringContaining('its work factor is not a number'),
      });
  });

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
  const BEGIN = '-----BEGIN AGE ENCRYPTED FILE-----';
  const END = '-----END AGE ENCRYPTED FILE-----';
  const whole = `${BEGIN}\nAAAA\n${END}`;

  it.each([
    ['4,096 empty lines before it', '\n'.repeat(4096) + whole, true],
    ['one more', '\n'.repeat(4097) + whole, false],
    ['blanks before its first line', ` \t${whole}`, true],
    ['other text before its first line', `x${whole}`, false],
    ['text before it', `x\n${whole}`, false],
    ['4,095 blanks after it', `${whole}\n${' '.repeat(4095)}`, true],
    ['one blank more', `${whole}\n${' '.repeat(4096)}`, false],
    ['text after it', `${whole}\n\nx`, false],
    ['a last line of 256 characters', whole.padEnd(BEGIN.length + 6 + 256), true],
    ['a last line of one more', whole.padEnd(BEGIN.length + 6 + 257), false],
    ['no last line', whole.slice(0, -END.length), false],
    ['half a last line', whole.slice(0, -1), false],
    ['nothing in it', '', false],
    ['a line of 68 characters', whole.replace('AAAA', 'A'.repeat(68)), false],
    ['an empty line', whole.replace('AAAA', `${'A'.repeat(64)}\n`), false],
    ['a line after a shorter one', whole.replace('AAAA', 'AAAA\nAAAA'), false],
    ['another writing of its last byte', whole.replace('AAAA', 'AAB='), false],
  ])('is read or refused as a whole: with %s', async (_, text, isRead) => {
    const found = dearmored(new Lookahead(sourceOf(Buffer.from(text))));
    const reading = async (): Promise<Buffer> => {
      const into = Buffer.alloc(100);
      const bytes = await found.read(into);
      expect(await found.read(into)).toBe(0);
      return into.subarray(0, bytes);
    };
    if (isRead) expect(await reading()).toEqual(Buffer.alloc(3));
    else
      expect(await refused(reading())).toMatchObject({
        kind: 'inauthentic',
        message: expect.stringContaining('its ASCII armor is truncated or malformed'),
      });
  });

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
