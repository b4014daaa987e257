import { wordlist } from '@scure/bip39/wordlists/english.js';
import type { Random } from '../../ground/random.ts';

/*
 * Passphrases of words, and estimates of their strength. The list is the English one of BIP-39: 2048 words of three to
 * eight letters with distinct first four letters, so that each stands for 11 bits.
 */

const WORD_BITS = 11;
const LONGEST_WORD = 8;
const SHORTEST_WORD = 3;
const words: ReadonlySet<string> = new Set(wordlist);

/** Number of words: 77 bits, where each guess costs 64 MiB and most of a second, for any attacker. */
const WORDS_OF_ONE = 7;

/** Generates a passphrase, e.g. `drum-velvet-…`. */
export function freshPassphrase(random: Random): string {
  const bytes = random.bytes(2 * WORDS_OF_ONE);
  // The length of the list divides 2^16, so every word is equally likely.
  const chosen = Array.from(
    { length: WORDS_OF_ONE },
    (_, index) => wordlist[bytes.readUInt16BE(2 * index) % wordlist.length],
  );
  return chosen.join('-');
}

/** Number of bits below which a copied store can be brute-forced with enough money or patience. */
const WEAK_BELOW = 50;

/** Passwords that people choose most often, besides words of the list. */
const COMMON = new Set(
  'password passwort passphrase qwerty letmein welcome admin administrator root login changeme default iloveyou sunshine princess football baseball dragon monkey shadow michael jordan hunter hunter2 superman batman starwars whatever trustno1 correcthorsebatterystaple coffer vault test guest hello'.split(
    ' ',
  ),
);
const LONGEST_COMMON = Math.max(...[...COMMON].map(({ length }) => length));
const COMMON_BITS = 5;
const PATTERN_BITS = 5;
const YEAR_BITS = 7;
const KEYBOARD = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm', 'qwertzuiop', '1234567890'];
const SHORTEST_PATTERN = 3;
const SHORT = 12;

type PassphrasePiece = {
  readonly length: number;
  readonly bits: number;
  readonly what: 'common' | 'pattern' | 'word' | 'other';
};

/**
 * Returns the reason why a passphrase is weak, as the end of a sentence; undefined if it is not. This is an estimate:
 * it recognizes words, runs, keyboard rows and years, and takes everything else for random.
 * @see docs/decisions/0157
 */
export function weaknessOf(passphrase: string): string | undefined {
  const pieces = piecesOf(passphrase);
  const bits = pieces.reduce((sum, piece) => sum + piece.bits, 0);
  if (bits >= WEAK_BELOW) return undefined;
  const share = (what: PassphrasePiece['what']): number =>
    pieces.reduce((sum, piece) => sum + (piece.what === what ? piece.length : 0), 0) / passphrase.length;
  if (share('common') >= 0.5) return 'it is a common password';
  if (share('pattern') >= 0.5) return 'it is mostly a pattern';
  const common = pieces.filter(({ what }) => what === 'word').length;
  if (share('word') >= 0.5)
    return `it consists mostly of ${common} common ${common === 1 ? 'word' : 'words'}`;
  const { length } = [...passphrase];
  if (length < SHORT) return `it has only ${length} ${length === 1 ? 'character' : 'characters'}`;
  return 'it is easy to guess';
}

function piecesOf(passphrase: string): readonly PassphrasePiece[] {
  const pieces: PassphrasePiece[] = [];
  const folded = unmasked(passphrase);
  const bits = bitsOfAny(passphrase);
  for (let at = 0; at < passphrase.length; ) {
    const piece = pieceAt(passphrase, folded, at, bits);
    pieces.push(piece);
    at += piece.length;
  }
  return pieces;
}

/** Substitutions of letters by digits and signs, which, like capital letters, do not prevent guessing. */
const MASKS: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};
const unmasked = (text: string): string =>
  text.replace(/[\s\S]/g, (char) => {
    const small = char.toLowerCase();
    return MASKS[char] ?? (small.length === 1 ? small : char);
  });

function pieceAt(text: string, folded: string, at: number, bits: number): PassphrasePiece {
  const common = longestAt(folded, at, COMMON, LONGEST_COMMON) || longestAt(text, at, COMMON, LONGEST_COMMON);
  const pattern = patternAt(text.toLowerCase(), at);
  const word = longestAt(folded, at, words, LONGEST_WORD);
  if (common >= Math.max(pattern, word) && common > 0)
    return { length: common, bits: COMMON_BITS, what: 'common' };
  if (pattern >= word && pattern > 0)
    return { length: pattern, bits: PATTERN_BITS + Math.log2(pattern), what: 'pattern' };
  if (word > 0) return { length: word, bits: WORD_BITS, what: 'word' };
  if (/^(?:19|20)\d\d/.test(text.slice(at, at + 4))) return { length: 4, bits: YEAR_BITS, what: 'pattern' };
  return { length: 1, bits, what: 'other' };
}

/** Returns the length of the longest entry of `list` at a position; 0 if there is none. */
function longestAt(text: string, at: number, list: ReadonlySet<string>, longest: number): number {
  for (let length = Math.min(longest, text.length - at); length >= SHORTEST_WORD; length--) {
    if (list.has(text.slice(at, at + length))) return length;
  }
  return 0;
}

/**
 * Returns the length of a run of one character, of consecutive characters, or of a keyboard row; 0 if there is none.
 */
function patternAt(text: string, at: number): number {
  const step = text.charCodeAt(at + 1) - text.charCodeAt(at);
  let end = at + 1;
  if (Math.abs(step) <= 1) while (text.charCodeAt(end) - text.charCodeAt(end - 1) === step) end++;
  let length = end - at;
  for (const row of KEYBOARD) {
    let along = length + 1;
    while (at + along <= text.length && row.includes(text.slice(at, at + along))) length = along++;
  }
  return length >= SHORTEST_PATTERN ? length : 0;
}

/** Character classes: characters are guessed from the classes that the passphrase uses. */
const KINDS: readonly (readonly [RegExp, size: number])[] = [
  [/\d/, 10],
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/[^\da-zA-Z]/, 33],
];

const bitsOfAny = (text: string): number =>
  Math.log2(KINDS.reduce((sum, [kind, size]) => sum + (kind.test(text) ? size : 0), 0));
