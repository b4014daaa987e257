/** Texts that are made to take long: one piece again and again, behind a beginning, and before what spoils it. */

const PIECES: readonly string[] = [
  ...'/=, \n\r\t"\'\\{[(<#:;a0Z%&-.+*$|_@\u0000\u0001\u000a\u0012\u0030\u0031\u00ff\u2028',
  ...[
    'a/',
    '//a',
    '/../',
    '%2F',
    '%41',
    'a=b&',
    'a&',
    '&',
    'a=b,',
    'a,',
    '"a":',
    '{"a":',
    ',"a":1',
    '[[',
    '[],',
    '\\"',
    '\\u0041',
  ],
  ...[
    '1e9,',
    '1,',
    ',12345678901234567890',
    '-1',
    '\n ',
    '\n\n',
    'a: ',
    'a:\n ',
    '- ',
    '- - ',
    '? ',
    '&a ',
    '*a ',
    '{a: ',
  ],
  ...[
    '# a\n',
    'A=b\n',
    'A="b"\n',
    "A='b",
    '$A',
    '"a" ',
    'a="b",',
    '//',
    '/*',
    '*/',
    '<<A\n',
    'path "a" {',
    '"+/',
  ],
  ...[
    '-----BEGIN A-----\n',
    '-----END A-----\n',
    '?\n-----END A-----\n',
    '-> X25519 a\n',
    '-> ssh-rsa\n',
    '--- ',
    'AAAA',
    'ssh-rsa AAAA ',
    'ssh-ed25519 AAAA\n',
  ],
  ...[
    '\u0000\u0000\u0000\u0001',
    '\u0000\u0000\u0000\u0000',
    '\u0030\u0080',
    '\u0030\u0000',
    '\u0005\u0000',
    '\u000a\u0000',
    '\u000a\u0001a',
    '\u0008\u0001',
  ],
  ...[
    'hvs.abcdefgh ',
    'cfr.abcdefgh/',
    's.',
    'a.b.',
    'vault:v1:',
    'coffer:a:v1:',
    '{{coffer:a#',
    '{{',
    '1h',
    '1.',
    '0x',
    'a\u2026',
  ],
];
const ENDS: readonly string[] = ['', '\u0001"'];

export interface Hurtful {
  /** How it can be made again. */
  readonly what: string;
  of(length: number): string;
}

const repeated = (start: string, piece: string, end: string): Hurtful => ({
  what: JSON.stringify([start, piece, end]),
  of: (length) => start + piece.repeat(Math.ceil(length / piece.length)) + end,
});

/** @param starts what the parser wants to see first. */
export const hurtfulTexts = (starts: readonly string[] = ['']): readonly Hurtful[] =>
  starts.flatMap((start) => PIECES.flatMap((piece) => ENDS.map((end) => repeated(start, piece, end))));

/** Two pieces in turns, for as many as are asked for. */
export const mixedTexts = (
  pick: (of: readonly string[]) => string,
  count: number,
  starts: readonly string[] = [''],
) =>
  Array.from({ length: count }, () =>
    repeated(pick(starts), pick(PIECES) + pick(PIECES) + pick(['', pick(PIECES)]), pick(ENDS)),
  );

/** Values of DER one within the other, as many as have room. */
export function nestedDer(length: number): Buffer {
  const heads: Buffer[] = [];
  let size = 0;
  while (size < length) {
    const head =
      size < 0x80
        ? Buffer.from([0x30, size])
        : size < 0x10000
          ? Buffer.from([0x30, 0x82, size >> 8, size & 0xff])
          : Buffer.from([0x30, 0x83, size >> 16, (size >> 8) & 0xff, size & 0xff]);
    heads.push(head);
    size += head.length;
  }
  return Buffer.concat(heads.reverse());
}
