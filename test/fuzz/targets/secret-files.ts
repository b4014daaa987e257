import { dotenv } from '../../../src/secret-files/dotenv.ts';
import type { FileFormat, SecretFile } from '../../../src/secret-files/format.ts';
import { json } from '../../../src/secret-files/json.ts';
import { isSecret, ruleFor, rulesIn } from '../../../src/secret-files/rules.ts';
import { respliced } from '../../../src/secret-files/splice.ts';
import { yaml } from '../../../src/secret-files/yaml.ts';
import type { Chance } from '../../chance.ts';
import { anyText, shorterTexts, spoiledText, swollenText } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { Defect, target, type World } from '../target.ts';

/** A file as somebody else left it in a repository. */
interface Sample {
  readonly format: 'dotenv' | 'yaml' | 'json' | 'rules';
  readonly text: string;
}

const TOKEN = 'coffer:app:v1:aG9zdGlsZSBpbnB1dCBvZiBzb21lYm9keSBlbHNl';
const SAMPLES: Readonly<Record<Sample['format'], readonly string[]>> = {
  dotenv: [
    `# c\nexport A="x\\"y" # d\r\nB='two\nlines'\nC=${TOKEN}\nD=\`q\`\nE: f#g\n`,
    'A="\nB=\'\nC=`\nD=\\"\n',
  ],
  yaml: [
    `db: &x # c\n  user: me\n  pw: |+\n    a\n\n  l: [1,  {k: "v"}]\nn: ${TOKEN}\no: {<<: *x}\n---\n- - a: !t 'b'\n`,
    `a: &p ${TOKEN}\nb: &q {c: x, d: ["y"]}\n<<: *q\n*q : [*q]\n---\ne: &p z\nf: *p\n`,
    '? [a]\n: >-\n  x\n"k\\u0041": ~\na: *b\n%YAML 1.2\n---\n&a a : *a\n',
  ],
  json: [`\ufeff{"a": {"b.c": [1.5e3, true, null]}, "d\\n": "${TOKEN}", "": ""}\n`, '[[[[{"a":[{}]}]]]]'],
  rules: [
    'rules:\n  - files: ["*.env", a/**/b?.yaml]\n    key: app\n    mount: team/a\n    only: [password, "**.x*y*z"]\n    except: db\n',
    'rules: [{files: x, key: y, format: json}]',
  ],
};
const FORMATS: Readonly<Record<'dotenv' | 'yaml' | 'json', FileFormat>> = { dotenv, yaml, json };
const LONG_ONE_IN = 1_500;
const LONGEST = 25_000;

/** Sealing and opening a file gives it back; adding and taking away never end in anything but a refusal. */
function read({ format, text }: Sample): void {
  if (format === 'rules') {
    readRules(text);
    return;
  }
  const reader = FORMATS[format];
  const file = reader.parse(text, 'f');
  // What has a second name for some is never encrypted.
  const meant = file.places.filter((place) => isSecret(place, undefined) && place.otherNameAt === undefined);
  const sealed = respliced(
    reader,
    'f',
    file,
    new Map(meant.map((place) => [place, file.written(place, TOKEN)])),
  );
  if (
    sealed.places.some(
      ({ text: value, type, sealed: isSealed }, index) =>
        type === 'string' && value !== '' && !isSealed && file.places[index]?.otherNameAt === undefined,
    )
  )
    throw new Defect('a value stays readable');
  const opened = respliced(reader, 'f', sealed, sourcesOf(sealed, file));
  if (opened.text !== text) throw new Defect('the file does not come back');
  const [place] = file.places;
  if (place !== undefined && text.length < 10_000) file.removed(place);
  if (text.length < 10_000) file.added('new.er', 'text');
}

const sourcesOf = (sealed: SecretFile, file: SecretFile) =>
  new Map(sealed.places.map((place, index) => [place, file.places[index]?.source ?? '']));

function readRules(text: string): void {
  const document = yaml.parse(text, 'r');
  const rules = rulesIn(document, 'r');
  const rule = ruleFor(rules, 'a/b/cd/b1.yaml');
  for (const place of document.places) isSecret(place, rule);
}

async function open(_chance: Chance, secrets: Secrets): Promise<World<Sample>> {
  const formats = Object.keys(SAMPLES) as Sample['format'][];
  return {
    generate(chance) {
      const format = chance.pick(formats);
      const samples = SAMPLES[format];
      const sample = chance.pick(samples);
      if (chance.oneIn(LONG_ONE_IN))
        return { format, text: swollenText(chance, sample, chance.below(LONGEST)) };
      return { format, text: chance.oneIn(10) ? anyText(chance) : spoiledText(chance, sample, samples) };
    },
    async check(sample) {
      await secrets.outcome(() => read(sample));
    },
    print: (sample) => JSON.stringify(sample),
    *simpler({ format, text }) {
      for (const shorter of shorterTexts(text)) yield { format, text: shorter };
    },
    close: () => undefined,
  };
}

export const secretFiles = target<Sample>({ name: 'secret-files', cases: 40_000, open });
