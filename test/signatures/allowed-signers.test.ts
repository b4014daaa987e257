import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  brokenFor,
  maySign,
  parseAllowedSigners,
  parseSshTime,
  principalsOf,
  signerKey,
} from '../../src/signatures/allowed-signers.ts';
import { parseSshLine } from '../../src/signatures/ssh-key.ts';
import { SSH_SIGNATURES } from './made-by-others.ts';

const [{ line: ed }, { line: rsa }] = SSH_SIGNATURES;
const keyOf = (line: string) => {
  const key = parseSshLine(line)?.key;
  if (key === undefined) throw new Error('no key');
  return key;
};
const at = Date.UTC(2026, 5, 1);
const allows = (text: string, who: string, namespace = 'file', when = at): boolean =>
  parseAllowedSigners(text).signers.some((signer) =>
    maySign(signer, who, { key: signerKey(keyOf(ed)), namespace, at: when }),
  );

describe('allowed signers', () => {
  it.each([
    ['a@example.com', 'a@example.com', true],
    ['a@example.com', 'b@example.com', false],
    ['*@example.com', 'b@example.com', true],
    ['*@example.com,!b@example.com', 'b@example.com', false],
    ['!b@example.com,*@example.com', 'b@example.com', false],
    ['a,b,c', 'c', true],
    ['?', 'x', true],
    ['?', 'xy', false],
    ['"two words"', 'two words', true],
    ['*', '', true],
  ])('with the patterns %s and the name %s: %j', (patterns, who, expected) => {
    expect(allows(`${patterns} ${ed}`, who)).toBe(expected);
  });

  it('are read whatever the comment behind their key has in it', () => {
    expect(allows(`a ${ed} one\u2028two\u2029three`, 'a')).toBe(true);
  });

  it('are those of their own key, namespace and time', () => {
    expect(allows(`a ${rsa}`, 'a')).toBe(false);
    expect(allows(`a namespaces="git,file" ${ed}`, 'a')).toBe(true);
    expect(allows(`a namespaces="git" ${ed}`, 'a')).toBe(false);
    expect(allows(`a namespaces="file"\t${ed}`, 'a')).toBe(true);
    const limited = `a valid-after="20260101Z",valid-before="202607010000Z" ${ed}`;
    expect(allows(limited, 'a')).toBe(true);
    expect(allows(limited, 'a', 'file', Date.UTC(2025, 11, 31, 23, 59))).toBe(false);
    expect(allows(limited, 'a', 'file', Date.UTC(2026, 6, 1, 0, 0, 0, 999))).toBe(true);
    expect(allows(limited, 'a', 'file', Date.UTC(2026, 6, 1, 0, 0, 1))).toBe(false);
  });

  it('are none with a time that begins when it ends, or later', () => {
    const lines = (from: string, to: string) => `a valid-after="${from}",valid-before="${to}" ${ed}`;
    expect(parseAllowedSigners(lines('20260101Z', '20260101000001Z')).broken).toEqual([]);
    for (const to of ['20260101Z', '20251231Z']) {
      expect(parseAllowedSigners(lines('20260101Z', to))).toMatchObject({ signers: [], broken: [{}] });
    }
  });

  it.each([
    ['19700101000001Z', 1000],
    ['19700101Z', undefined],
    ['19691231Z', undefined],
    ['20261231235961Z', Date.UTC(2027, 0, 1, 0, 0, 1)],
    ['20261231235962Z', undefined],
    ['202612312359Z', Date.UTC(2026, 11, 31, 23, 59)],
    ['202612312360Z', undefined],
    ['202612312400Z', undefined],
    ['20261301Z', undefined],
    ['20260001Z', undefined],
    ['20260100Z', undefined],
    ['20260132Z', undefined],
    ['2026010Z', undefined],
    ['20260101UTC', Date.UTC(2026, 0, 1)],
    ['202601010203', new Date(2026, 0, 1, 2, 3).getTime()],
    ['202601012301Z', Date.UTC(2026, 0, 1, 23, 1)],
    ['20260101', new Date(2026, 0, 1).getTime()],
  ])('have the time %s where it is %j', (text, time) => {
    expect(parseSshTime(text)).toBe(time);
  });

  it('with authorities and keys of devices are left out', () => {
    const { signers, broken } = parseAllowedSigners(
      `a cert-authority ${ed}\nb sk-ssh-ed25519@openssh.com AAAA\n`,
    );
    expect({ signers, broken }).toEqual({ signers: [], broken: [] });
  });

  it.each([
    ['namespaces=file', 'has the option namespaces without a value in double quotes'],
    ['namespaces="git"x', 'has text behind the value of the option namespaces'],
    ['valid-after', 'has the option valid-after without a value in double quotes'],
    ['cert-authority="x"', 'has a value for cert-authority, which takes none'],
    ['no-touch-required', 'has the unknown option "no-touch-required"'],
    ['="x"', 'has an unknown option'],
  ])('say what is wrong with an option: %s', (option, why) => {
    expect(parseAllowedSigners(`a ${option} ${ed}\n`).broken).toMatchObject([{ why: `line 1 ${why}` }]);
  });

  it('say of which lines nothing is understood, and take the others', () => {
    const text = `a valid-befor="20200101" ${ed}\nb what\n"c\na valid-after="soon" ${ed}\na ${ed}\n`;
    const { signers, broken } = parseAllowedSigners(text);
    expect(signers).toHaveLength(1);
    expect(broken.map(({ why }) => why)).toEqual([
      'line 1 has the unknown option "valid-befor"',
      'line 2 has the unknown option "what"',
      'line 3 has a quote that is not closed',
      'line 4 has the invalid time "soon"',
    ]);
    expect(brokenFor(broken, 'b').map(({ why }) => why.slice(0, 6))).toEqual(['line 2', 'line 3']);
  });

  it('with a pattern of many stars are judged at once', () => {
    expect(allows(`${'*a'.repeat(40)}*b ${ed}`, 'a'.repeat(4000))).toBe(false);
  });
});

const AT = '20260601120000Z';

/** K stands for the key that signed, R for another. */
const LINES: readonly string[] = [
  ...[
    'a K',
    'a,b K',
    '"a" K',
    '"a,b" K',
    '"x y",a K',
    '"a"K',
    'a"b" K',
    '"a K',
    'a\tK',
    '\ta K',
    ' a  K ',
    'a TYPE\tBLOB',
  ],
  ...[
    'a K\r',
    '\r\n#\r\na K',
    'a R\na K',
    'a TYPE BLOB=',
    'a ssh-rsa BLOB',
    'a TYPE',
    'a',
    'a R\nb K',
    'a, K',
  ],
  ...['*,!a K', '!a,* K', '!b,* K', 'A K', '? K', '?? K'],
  ...[
    'a NAMESPACES="file" K',
    'a namespaces="git" K',
    'a namespaces="*,!file" K',
    'a namespaces="fi*" K',
    'a namespaces="" K',
  ],
  ...[
    'a namespaces=file K',
    'a namespaces="git, file" K',
    'a namespaces="file K',
    'a namespaces="fi\\"le" K',
  ],
  ...[
    'a namespaces="file",valid-after="20200101" K',
    'a namespaces="file" valid-after="20200101" K',
    'a namespaces="file", K',
  ],
  ...[
    'a ,namespaces="file" K',
    'a namespaces="file",namespaces="file" K',
    'a namespaces="git" K\na K',
    'a what K\na K',
  ],
  ...[
    'a restrict K',
    'a valid-befor="20200101" K',
    'a cert-authority K',
    'a Cert-Authority,namespaces="file" K',
  ],
  ...['a cert-authority="x" K', 'a cert-authority K\na K', 'b broken\na K', 'a broken\na K', 'a K\na broken'],
  ...[
    'a valid-after="20270101",valid-before="20260101" K',
    'a valid-before="20260601115959Z" K',
    'a valid-before="20260601120000Z" K',
  ],
  ...[
    'a valid-after="20260601120000Z" K',
    'a valid-after="20260601120001Z" K',
    'a valid-before="202606011200z" K',
  ],
  ...[
    'a valid-before="20261301" K',
    'a valid-before="20270632" K',
    'a valid-before="20270631" K',
    'a valid-before="2027060112" K',
  ],
  ...[
    'a valid-before="20270601240000Z" K',
    'a valid-before="20270601126000Z" K',
    'a valid-before="20270601120061Z" K',
  ],
  ...[
    'a valid-before="20270601120062Z" K',
    'a valid-after="19690101Z" K',
    'a valid-after="soon" K',
    'a valid-after="" K',
  ],
];

/** What OpenSSH's own ssh-keygen makes of the same lines. */
describe('allowed signers in the eyes of ssh-keygen', () => {
  let directory: string;
  let key: string;
  let other: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'coffer-signers-'));
    const make = (name: string) => {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', join(directory, name)]);
      return readFileSync(join(directory, `${name}.pub`), 'utf8').trim();
    };
    [key, other] = [make('signing'), make('other')];
    writeFileSync(join(directory, 'message'), 'message');
    const sign = ['-q', '-Y', 'sign', '-n', 'file', '-f', 'signing', 'message'];
    execFileSync('ssh-keygen', sign, { cwd: directory, stdio: 'ignore' });
    for (const [index, line] of LINES.entries())
      writeFileSync(join(directory, `signers${index}`), meant(line));
    execFileSync('sh', ['-c', judgeAll], { cwd: directory });
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  /** By one shell for all lines: two new processes for each cost that of the tests, which is large, more than ssh-keygen takes. */
  const judgeAll = `for i in $(seq 0 ${LINES.length - 1}); do
    judge() { ssh-keygen -Y "$@" -f signers$i -s message.sig -Overify-time=${AT} < message 2> errors; }
    judge find-principals > found$i
    judge verify -n file -I a > output
    echo $? > verified$i
  done`;

  /** The text of a file in which such a line stands. */
  function meant(line: string): string {
    const [type = '', blob = ''] = key.split(' ');
    const words: Readonly<Record<string, string>> = { BLOB: blob, TYPE: type, K: key, R: other };
    // All at once: a key has these letters as well.
    return `${line.replace(/BLOB|TYPE|K|R/g, (word) => words[word] ?? '')}\n`;
  }

  it.each(LINES)('with %j are the same', (line) => {
    const { signers } = parseAllowedSigners(meant(line));
    const asked = { key: signerKey(keyOf(key)), namespace: 'file', at: parseSshTime(AT) ?? 0 };
    const ours = {
      a: signers.some((signer) => maySign(signer, 'a', asked)),
      found: principalsOf(signers, asked),
    };
    const answer = (kind: string): readonly string[] =>
      readFileSync(join(directory, `${kind}${LINES.indexOf(line)}`), 'utf8')
        .split('\n')
        .slice(0, -1);
    expect(ours).toEqual({ a: answer('verified')[0] === '0', found: answer('found') });
  });
});
