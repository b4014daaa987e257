import { describe, expect, it } from 'vitest';
import { dotenv } from '../../../src/secret-files/dotenv.ts';
import type { FileFormat } from '../../../src/secret-files/format.ts';
import { json } from '../../../src/secret-files/json.ts';
import { ruleFor, rulesIn } from '../../../src/secret-files/rules.ts';
import { respliced } from '../../../src/secret-files/splice.ts';
import { align, isAsExpected, sidesOf } from '../../../src/secret-files/three-way.ts';
import { yaml } from '../../../src/secret-files/yaml.ts';
import { processMsUntil, processorMs } from '../../processor-time.ts';
import { DirectoryHere } from '../directory-here.ts';

const TOKEN = 'coffer:app:v1:aG9zdGlsZSBpbnB1dCBvZiBzb21lYm9keSBlbHNl';
const FEW = 250;
/** For what is looked at quickly. */
const MORE = 40;

/** Names of keys in one file; a question about each takes a quarter of a millisecond at least. */
const KEYS = 30_000;

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('');
const tried = (work: () => unknown): void => {
  try {
    work();
  } catch {
    // Refusing takes its time, too.
  }
};
const parsing = (format: FileFormat, text: (count: number) => string) => (count: number) => {
  const content = text(count);
  return () => tried(() => format.parse(content, 'f'));
};
/** Encrypts every value, and aligns the file with what it was. */
const working = (format: FileFormat, text: (count: number) => string) => (count: number) => {
  const content = text(count);
  return () => {
    const file = format.parse(content, 'f');
    const sealed = respliced(
      format,
      'f',
      file,
      new Map(file.places.map((place) => [place, file.written(place, TOKEN)])),
    );
    const aligned = align(file, sealed, file, new Map());
    isAsExpected(sealed, aligned);
  };
};

/** Work with so many parts, which must grow as they do. */
const WORKS: Readonly<Record<string, (count: number) => () => unknown>> = {
  'a .env with many values': working(dotenv, (count) => lines(count, (index) => `A${index}="x\\"y" # z\n`)),
  'a .env with one name': working(dotenv, (count) => 'A=x\n'.repeat(count)),
  'a .env with quotes that end nowhere': parsing(dotenv, (count) => `A="${'\\"x\n'.repeat(count * MORE)}`),
  'a .env with backslashes': parsing(dotenv, (count) => `A="${'\\'.repeat(count * MORE)}`),
  'a .env with blanks': parsing(
    dotenv,
    (count) => `A=${' '.repeat(count * MORE)}x${' '.repeat(count * MORE)}#`,
  ),
  'a YAML map': working(yaml, (count) => lines(count, (index) => `k${index}: v\n`)),
  'a YAML list': working(yaml, (count) => `l:\n${'  - v\n'.repeat(count)}`),
  'a YAML list between brackets': working(yaml, (count) => `l: [${'v,'.repeat(count)}]\n`),
  'YAML documents': working(yaml, (count) => '---\na: v\n'.repeat(count)),
  'YAML anchors': parsing(
    yaml,
    (count) =>
      `${lines(count, (index) => `k${index}: &a${index} v\n`)}${lines(count, (index) => `l${index}: *a${index}\n`)}`,
  ),
  'YAML that opens': parsing(yaml, (count) => '['.repeat(count)),
  'YAML that indents': parsing(yaml, (count) =>
    lines(Math.min(count, 300), (index) => `${' '.repeat(index)}a:\n`),
  ),
  'a JSON object': working(json, (count) => `{${lines(count, (index) => `"k${index}": "v",`)}"z": 1}`),
  'JSON that opens': parsing(json, (count) => '['.repeat(count * MORE)),
  'a JSON string of escapes': parsing(json, (count) => `{"a": "${'\\'.repeat(count * MORE)}`),
  rules: (count) => {
    const text = `rules:\n${lines(count, (index) => `  - files: "**/a${index}/*.env"\n    key: app\n`)}`;
    return () => ruleFor(rulesIn(yaml.parse(text, 'r'), 'r'), 'a/b/c.env');
  },
  'the sides of a conflict': (count) => {
    const text = '<<<<<<< a\nA=1\n=======\nA=2\n>>>>>>> b\n'.repeat(count * MORE);
    return () => sidesOf(text);
  },
};

describe('files with values', () => {
  it.each(Object.entries(WORKS))('take time that grows with their size: %s', (_, work) => {
    const cost = (count: number): number => {
      const run = work(count);
      return Math.min(processorMs(run), processorMs(run));
    };
    cost(FEW);
    const [small, large] = [cost(FEW), cost(16 * FEW)];
    // In the square it would be 256 times as much. Less than a millisecond is not told apart.
    expect(large).toBeLessThan(16 * 5 * Math.max(small, 1));
  });

  it('are checked to the last of as many values as fit into them', async () => {
    const here = DirectoryHere.make();
    const count = 200_000;
    here.write('f.json', `[${'1,'.repeat(count - 1)}1]`);
    const { exitCode, out, err } = await here.run('secrets check f.json');
    expect({ exitCode, err }).toEqual({
      exitCode: 1,
      err: `coffer: ${count} values should be encrypted (coffer secrets encrypt f.json --key NAME)\n`,
    });
    expect(out.endsWith(`f.json:1:${count - 1}\n`)).toBe(true);
  });

  it('are shown by a diff as they are when their values are of as many keys as fit into them', async () => {
    const here = await DirectoryHere.withStore();
    const text = lines(KEYS, (index) => `A${index}=coffer:k${index}:v1:AAAA\n`);
    here.write('f.env', text);
    let out: string | undefined;
    const ms = await processMsUntil(async () => {
      ({ out } = await here.run('secrets git-textconv f.env'));
    });
    expect(out).toBe(text);
    // A question about each key takes four times as long, and a look at the whole text for each more than that.
    expect(ms).toBeLessThan(KEYS / 8);
  });

  it('are shown by a diff with each value decrypted, whatever quotes are around it', async () => {
    const here = await DirectoryHere.withStore();
    here.write('f.env', 'A="x y"\nB=z\nC=w # "q"\n');
    await here.ok('secrets encrypt --key app f.env');
    const sealed = here.read('f.env');
    const [a = '', b = ''] = sealed.match(/coffer:\S+/g) ?? [];
    here.write('g.env', sealed.replace(a, `"${a}"`).replace(b, `'${b}'`));
    expect(await here.ok('secrets git-textconv g.env')).toBe('A="x y"\nB=z\nC=w # "q"');
  });
});
