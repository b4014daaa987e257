import { describe, expect, it } from 'vitest';
import { endOfBrackets, importsOf, partsOf, type SourceFile, sourceFiles } from './source-files.ts';

const source = sourceFiles('src');
const everything = [...source, ...['bench', 'scripts', 'test'].flatMap(sourceFiles)];

/** The most parameters of a function; what needs more takes one object with named members. */
const MOST_PARAMETERS = 4;

const lineOf = ({ path, code }: SourceFile, at: number): string =>
  `${path}: ${code.slice(at, at + 60).replaceAll(/\s+/g, ' ')}`;

describe('the source', () => {
  it('gives a member that may be undefined its value, and spreads no object around it', () => {
    const found = everything.flatMap((file) =>
      [...file.code.matchAll(/\.\.\.\w*\(/g)]
        .filter(({ index, 0: start }) => {
          const at = index + start.length - 1;
          const inner = file.code.slice(at + 1, endOfBrackets(file.code, at) - 1);
          return start === '...(' ? isOneMember(inner) : isHelper(inner);
        })
        .map(({ index }) => lineOf(file, index)),
    );
    expect(found).toEqual([]);
  });

  it('has ten functions at the most that take more than four parameters', () => {
    expect(source.flatMap(functionsOfMany).length).toBeLessThanOrEqual(10);
  });

  it('exports nothing that no other file imports', () => {
    const used = new Map<string, Set<string>>();
    for (const file of everything) {
      const words = file.code.match(/[\w$]+/g) ?? [];
      for (const path of new Set(importsOf(file))) {
        const known = used.get(path) ?? new Set();
        for (const word of words) known.add(word);
        used.set(path, known);
      }
    }
    const unused = source
      .filter(({ path }) => !ENTRIES.has(path))
      .flatMap((file) => {
        return exportedBy(file)
          .filter((name) => !used.get(file.path)?.has(name) && !WRITTEN_OUT.has(name))
          .map((name) => `${file.path}: ${name}`);
      });
    expect(unused).toEqual([]);
  });

  it('has fewer than twenty names of types that stand for two things', () => {
    const defined = new Map<string, number>();
    for (const { code } of source) {
      for (const [, name = ''] of code.matchAll(TYPE)) defined.set(name, (defined.get(name) ?? 0) + 1);
    }
    expect([...defined].filter(([, times]) => times > 1).length).toBeLessThan(20);
  });
});

/** What programs import, and what is started. */
const ENTRIES: ReadonlySet<string> = new Set(['src/library.ts', 'src/main.ts']);

/** Interfaces that the compiler names in the declaration of another module, where it infers a type. */
const WRITTEN_OUT: ReadonlySet<string> = new Set([
  'AuditedHeader',
  'DataKeyData',
  'DataKeysData',
  'KeySet',
  'Signature',
  'TokenList',
  'VerifyAnswer',
  'WrappedKeys',
]);

/** `condition ? {} : { one }`, the other way round, or `condition && { one }`. */
const CHOICE =
  /^[\s\S]+?(?:\?\s*\{\s*\}\s*:\s*(?<otherwise>\{[\s\S]*\})|\?\s*(?<then>\{[\s\S]*\})\s*:\s*\{\s*\}|&&\s*(?<and>\{[\s\S]*\}))\s*,?\s*$/;

function isOneMember(inner: string): boolean {
  const { otherwise, then, and } = CHOICE.exec(inner)?.groups ?? {};
  const object = otherwise ?? then ?? and;
  return object !== undefined && partsOf(object.slice(1, -1)).length === 1;
}

/** A condition and an object, which a function spreads or leaves out. */
function isHelper(inner: string): boolean {
  const [condition = '', object = '', ...others] = partsOf(inner);
  return others.length === 0 && object.startsWith('{') && /[=!]==|&&| [<>] /.test(condition);
}

const NO_FUNCTION = /\b(?:if|for|while|switch|catch|return|await)\s*$/;

/** The functions of a file that take more parameters than is good, as far as their text tells. */
function functionsOfMany(file: SourceFile): readonly string[] {
  return [...file.code.matchAll(/\(/g)]
    .filter(({ index }) => {
      const end = endOfBrackets(file.code, index);
      const isFunction = /^\s*(?::[^;=()]*?(?:\([^()]*\)[^;=()]*?)?)?\s*(?:=>|\{)/.test(
        file.code.slice(end, end + 300),
      );
      if (!isFunction || NO_FUNCTION.test(file.code.slice(0, index))) return false;
      return partsOf(file.code.slice(index + 1, end - 1)).length > MOST_PARAMETERS;
    })
    .map(({ index }) => lineOf(file, index));
}

const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
const TYPE =
  /^\s*(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type) (\w+)(?=[^,\w]*[=<{]|\s+(?:extends|implements)\b)/gm;

const exportedBy = ({ code }: SourceFile): readonly string[] => [
  ...[...code.matchAll(EXPORT)].map(([, name = '']) => name),
  ...[...code.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) =>
    names.split(',').map(
      (name) =>
        name
          .replace(/^\s*type /, '')
          .split(' as ')
          .at(-1)
          ?.trim() ?? '',
    ),
  ),
];
