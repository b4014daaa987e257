import { describe, expect, it } from 'vitest';
import { endOfBrackets, partsOf, type SourceFile, sourceFiles } from './source-files.ts';

const everything = ['src', 'bench', 'scripts', 'test'].flatMap(sourceFiles);

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
});

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
