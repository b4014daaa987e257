import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { string } from '../../src/signatures/ssh-wire.ts';
import { NoFact, parseFact, pathOf, printFact } from '../../src/team/fact.ts';
import { idOf, isKeyName, isName, spelled, unspelled } from '../../src/team/names.ts';
import { isRecipient, isSigner } from '../../src/team/recipients.ts';
import { printBech32 } from '../../src/transit/key-types/age/bech32.ts';
import { mlKemP256Kem, p256Kem } from '../../src/transit/key-types/age/tagged.ts';
import { anyText } from '../any-text.ts';
import { mistyped } from '../mistyped.ts';
import { ageKey, sshKey, World } from './world.ts';

const world = new World();
const bob = world.member(world.first, 'bob');
const removal = world.remove(world.first, [bob], [world.first]);
const version = world.version(world.first, 1);
const facts = [
  world.first,
  bob,
  world.member(world.first, 'dave', { admin: false, key: ageKey('dave') }),
  removal,
  world.slot(world.first, bob, world.first),
  version,
];
const refused = (message: string, path = pathOrNone(message)): string => {
  try {
    parseFact(Buffer.from(printFact(message, 'AAAA')), path);
  } catch (error) {
    if (error instanceof NoFact) return error.message;
    throw error;
  }
  return '';
};
const pathOrNone = (message: string): string => {
  try {
    return pathOf(message);
  } catch {
    return 'x';
  }
};

describe('a fact', () => {
  it('is read as it was printed, with lines that end as on Windows as well', () => {
    for (const { message, path } of facts) {
      const text = printFact(message, 'AAAA');
      const plain = parseFact(Buffer.from(text), path);
      expect(parseFact(Buffer.from(text.replaceAll('\n', '\r\n')), path)).toEqual(plain);
      expect(plain.path).toBe(`${path.slice(0, -32)}${idOf(message)}`);
    }
  });

  it('is none elsewhere than at its own place', () => {
    expect(refused(bob.message, `members/zoe.${bob.id}`)).toContain(
      'was renamed or modified: its content belongs in members/bob.',
    );
    expect(refused(bob.message, bob.path.toUpperCase())).toContain('was renamed or modified');
  });

  it.each([
    ['a field that is missing', bob.message.replace(/^root .*\n/m, ''), 'has no field root'],
    ['a field that comes twice', bob.message.replace(/^(role .*\n)/m, '$1$1'), 'has the field role twice'],
    ['another role', bob.message.replace('role admin', 'role owner'), 'has an invalid role'],
    [
      'an admin who does not sign',
      bob.message.replace(/^sign .*\n/m, ''),
      'names an admin without a signing key',
    ],
    ['a name in capitals', bob.message.replace('name bob', 'name Bob'), 'has an invalid name'],
    ['a name that Windows keeps', bob.message.replace('name bob', 'name nul'), 'has an invalid name'],
    [
      'a time that is none',
      bob.message.replace(/^at .*$/m, 'at 2026-13-01T00:00:00Z'),
      'has an invalid time',
    ],
    ['no age file', bob.message.slice(0, bob.message.indexOf('-----')), 'has an incomplete age file'],
    [
      'an age file that is cut',
      bob.message.replace('-----END AGE ENCRYPTED FILE-----\n', ''),
      'has an incomplete age file',
    ],
    ['a control character', bob.message.replace('role admin', 'role admin\u0007'), 'has control characters'],
    [
      'a key that is none',
      bob.message.replace(/^key .*$/m, 'key age1qqqq'),
      'has an invalid key in the field key',
    ],
    ['ids out of order', bob.message.replace(/^after (.*)$/m, 'after $1 $1'), 'has IDs that are not sorted'],
    ['a key that comes twice', bob.message.replace(/^(key .*\n)/m, '$1$1'), 'has a duplicate key'],
    [
      'a signing key that is none',
      bob.message.replace(/^sign .*$/m, 'sign ssh-ed25519 AAAA'),
      'has an invalid signing key',
    ],
    [
      'a secret for a signing key that is one of its keys',
      bob.message.replace(/^(sign .*\n)/m, '$1secret AAAA\n'),
      'has an unusable or duplicate signing key',
    ],
    [
      'a signing key that nobody has',
      bob.message.replace(/^sign .*$/m, `sign ${sshKey('zoe')}`),
      'has an unusable or duplicate signing key',
    ],
    [
      'a member who goes and gets the keys',
      removal.message.replace(/^(without (.*)\n)/m, '$1for $2\n'),
      'gives keys to a member that it removes',
    ],
    [
      'a member who goes twice',
      removal.message.replace(/^(without .*\n)/m, '$1$1'),
      'names a member twice in the field without',
    ],
    ['a key of a strange name', version.message.replace(/^key .*$/m, 'key a/b'), 'has an invalid key name'],
    [
      'no number of a version',
      version.message.replace(/^version .*$/m, 'version 0'),
      'has an invalid key version',
    ],
    [
      'a number that is too long',
      version.message.replace(/^version .*$/m, 'version 01'),
      'has an invalid key version',
    ],
    ['a type that is none', version.message.replace(/^type .*$/m, 'type A/B'), 'has an invalid type'],
    [
      'material that is none',
      version.message.replace(/^material .*$/m, 'material AAA'),
      'has invalid base64 in the field material',
    ],
    [
      'an age file after what has none',
      `${version.message}-----BEGIN AGE ENCRYPTED FILE-----\nAAAA\n-----END AGE ENCRYPTED FILE-----\n`,
      'has an incomplete age file',
    ],
    [
      'an age file with nothing in it',
      bob.message.replace(/(FILE-----\n)[^-]+(-----END)/, '$1$2'),
      'has an incomplete age file',
    ],
    [
      'an author with a word too many',
      bob.message.replace(/^by .*$/m, '$& x'),
      'has an invalid reference to a member',
    ],
    [
      'an author of an impossible name',
      bob.message.replace(/^by (\S+) .*$/m, 'by $1 Alice'),
      'has an invalid reference to a member',
    ],
    ['a member without a key', bob.message.replace(/^key .*\n/m, ''), 'has no field key'],
    [
      'a signing key that comes twice',
      bob.message.replace(/^(sign .*\n)/m, '$1$1'),
      'has the field sign twice',
    ],
    [
      'a signing key that only decrypts',
      bob.message.replaceAll(/^(key|sign) .*$/gm, `$1 ${ageKey('zoe')}`),
      'has an invalid signing key',
    ],
    ['an ID that is none', bob.message.replace(/^root .*$/m, 'root zz'), 'has an invalid ID'],
    ['text before an age file', bob.message.replace('-----BEGIN', 'AAAA\n-----BEGIN'), 'has an invalid line'],
    [
      'text after an age file',
      bob.message.replace(/(-----END AGE ENCRYPTED FILE-----\n)/, '$1AAAA\n'),
      'has an incomplete age file',
    ],
    [
      'an age file that begins in another',
      bob.message.replace(/(-----BEGIN AGE ENCRYPTED FILE-----\n)/, '$1$1'),
      'has an incomplete age file',
    ],
    ['a line that is no field', bob.message.replace('role admin', 'role'), 'has an invalid line'],
    ['another version of the format', bob.message.replace('team 1', 'team 2'), 'is not a file of a keyring'],
  ])('is none with %s', (_, message, why) => {
    expect(refused(message)).toContain(why);
  });

  it('is none when it is larger than 1 MiB, or not UTF-8', () => {
    const thrown = (bytes: Buffer): unknown => {
      try {
        return parseFact(bytes, bob.path);
      } catch (error) {
        return (error as Error).message;
      }
    };
    const text = Buffer.from(printFact(bob.message, 'AAAA'));
    const padded = (bytes: number) =>
      Buffer.from(printFact(bob.message, 'A'.repeat(bytes - text.length + 'AAAA'.length)));
    expect(thrown(padded(2 ** 20))).toMatchObject({ id: bob.id });
    expect(thrown(padded(2 ** 20 + 1))).toBe('is more than 1 MiB');
    expect(thrown(Buffer.concat([text.subarray(0, -1), Buffer.from([0xff, 0x0a])]))).toBe('is not UTF-8');
  });

  it('means nothing with a field or a type that only a newer version knows, and stands in the order', () => {
    const versions = [
      bob.message.replace('role admin\n', 'role admin\nseal blue\n'),
      (facts[5]?.message ?? '').replace('aes256-gcm96', 'aes256-siv'),
    ];
    for (const message of versions) {
      const fact = parseFact(Buffer.from(printFact(message, 'AAAA')), pathOf(message));
      expect([fact.kind, fact.card, fact.version, fact.armor, fact.after.length]).toEqual([
        'newer',
        undefined,
        undefined,
        '',
        1,
      ]);
    }
  });

  it('is never anything but a fact or refused, whatever was cut, altered or put in', () => {
    const texts = facts.map(({ message }) => printFact(message, 'AAAA'));
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.nat(2000),
        fc.nat(40),
        fc.oneof(anyText({ maxLength: 8 }), fc.constantFrom('\n', ' ', '\r\n', '-----BEGIN ')),
        (text, at, length, put) => {
          const altered = text.slice(0, at) + put + text.slice(at + length);
          try {
            const fact = parseFact(Buffer.from(altered), 'x');
            expect(fact.path).toBe('x');
          } catch (error) {
            expect(error).toBeInstanceOf(NoFact);
          }
        },
      ),
    );
  });
});

describe('the names in a keyring', () => {
  it('are told in parts of four digits, and understood again', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const id = idOf(bytes);
        expect(unspelled(spelled(id))).toBe(id);
        expect(spelled(id)).toMatch(/^(?:[0-9a-hjkmnp-tv-z]{4}-){7}[0-9a-hjkmnp-tv-z]{4}$/);
      }),
    );
  });

  it('are no more than files of every system can be called', () => {
    expect(['bob', 'b-0', 'a'.repeat(32)].every(isName)).toBe(true);
    expect(['', '-b', 'Bob', 'con', 'lpt9', 'a/b', 'a.b', 'a'.repeat(33)].some(isName)).toBe(false);
    expect(['app', 'App_1', '_x'].every(isKeyName)).toBe(true);
    expect(['NUL', 'Com1', '../x', '', 'a'.repeat(65)].some(isKeyName)).toBe(false);
  });

  it('take a key in the one way that it is written, and none that everybody could open or sign for', () => {
    const ed25519 = (hex: string): string =>
      `ssh-ed25519 ${Buffer.concat([string('ssh-ed25519'), string(Buffer.from(hex, 'hex'))]).toString('base64')}`;
    expect([isRecipient(ageKey('a')), isRecipient(sshKey('a')), isSigner(sshKey('a'))]).toEqual([
      true,
      true,
      true,
    ]);
    const low = [
      '00'.repeat(32),
      `01${'00'.repeat(31)}`,
      `ec${'ff'.repeat(30)}7f`,
      `ed${'ff'.repeat(30)}7f`,
      'ff'.repeat(32),
    ];
    for (const hex of low) {
      expect([hex, isRecipient(printBech32('age', Buffer.from(hex, 'hex')))]).toEqual([hex, false]);
      const hybrid = Buffer.concat([Buffer.alloc(1184), Buffer.from(hex, 'hex')]);
      expect([hex, isRecipient(printBech32('age1pq', hybrid))]).toEqual([hex, false]);
      expect([hex, isRecipient(ed25519(hex)), isSigner(ed25519(hex))]).toEqual([hex, false, false]);
    }
    const octic = 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa';
    expect(isSigner(ed25519(octic))).toBe(false);
    expect(isRecipient(`${sshKey('a')} a@b`)).toBe(false);
    // Bytes that base64 leaves unused, another name inside, and a key that is too short or too long.
    const [, base64 = ''] = sshKey('a').split(' ');
    const blob = Buffer.from(base64, 'base64');
    const others = [
      blob.subarray(0, -1),
      Buffer.concat([blob, Buffer.alloc(1)]),
      Buffer.from(blob).fill(0x78, 4, 5),
    ];
    for (const text of [
      `${base64}=`,
      ` ${base64}`,
      `${base64}\u{1}`,
      ...others.map((bytes) => bytes.toString('base64')),
    ]) {
      expect([text, isRecipient(`ssh-ed25519 ${text}`), isSigner(`ssh-ed25519 ${text}`)]).toEqual([
        text,
        false,
        false,
      ]);
    }
    expect(isRecipient(ageKey('a').toUpperCase())).toBe(false);
  });

  it('take an RSA key of 2,048 to 16,384 bits, and no key under the name of another type', () => {
    const blob = (name: string, ...parts: Buffer[]): string =>
      Buffer.concat([string(name), ...parts.map(string)]).toString('base64');
    // The number has as many bits as its first byte leaves; SSH puts a zero before one that would be negative.
    const modulus = (first: number[], bytes: number): Buffer =>
      Buffer.concat([Buffer.from(first), Buffer.alloc(bytes - 1, 0xff)]);
    const rsa = (first: number[], bytes: number, exponent = [1, 0, 1]): string =>
      `ssh-rsa ${blob('ssh-rsa', Buffer.from(exponent), modulus(first, bytes))}`;
    expect(
      [
        rsa([0x7f], 256),
        rsa([0, 0x80], 256),
        rsa([0, 0x80], 2048),
        rsa([1], 2049),
        rsa([0, 0x80], 256).replace('ssh-rsa', 'ssh-ed25519'),
        sshKey('a').replace('ssh-ed25519', 'ssh-rsa'),
        // The same numbers with zeros before them.
        rsa([0, 0, 0x80], 256),
        rsa([0, 0x80], 256, [0, 1, 0, 1]),
      ].map(isRecipient),
    ).toEqual([false, true, true, false, false, false, false, false]);
  });

  it('take the keys of plugins, and those on P-256, in the one way that they are written', () => {
    const point = p256Kem.publicOf(Buffer.alloc(32, 7));
    const tagged = (bytes: Uint8Array): boolean => isRecipient(printBech32('age1tag', bytes));
    const above = Buffer.concat([Buffer.of(2), Buffer.alloc(32, 0xff)]);
    const uncompressed = Buffer.concat([Buffer.of(4), point.subarray(1)]);
    expect([point, above, uncompressed, point.subarray(1)].map(tagged)).toEqual([true, false, false, false]);
    const hybrid = mlKemP256Kem.publicOf(Buffer.alloc(32, 7));
    const others = [hybrid, Buffer.concat([hybrid.subarray(0, -64), Buffer.alloc(64, 0xff)])];
    expect(others.map((bytes) => isRecipient(printBech32('age1tagpq', bytes)))).toEqual([true, false]);
    const ofPlugin = printBech32('age1yubikey', Buffer.alloc(33, 1));
    expect(isRecipient(ofPlugin)).toBe(true);
    for (const wrong of [ofPlugin.toUpperCase(), mistyped(ofPlugin), printBech32('age1../x', point)])
      expect([wrong, isRecipient(wrong)]).toEqual([wrong, false]);
  });
});

describe('an ID that was read aloud', () => {
  it('is none with a digit too many, too few, or of another alphabet', () => {
    const id = 'a1b2c3d4'.repeat(4);
    expect(unspelled(` ${spelled(id).toUpperCase()}\n`)).toBe(id);
    for (const text of ['', id.slice(1), `${id}0`, id.replace('a', '!'), spelled(id).replace('-', '_')])
      expect(unspelled(text)).toBeUndefined();
  });
});
