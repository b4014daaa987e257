/**
 * Converts one chunk, an ES module that esbuild made by splitting, to a CommonJS function, as small as possible.
 * @see docs/decisions/0070
 */
import { type BuildOptions, transform } from 'esbuild';

const toCommonJs = async (options: BuildOptions, code: string): Promise<string> => {
  const converted = await transform(code, {
    format: 'cjs',
    platform: 'node',
    target: options.target ?? 'esnext',
    minifyWhitespace: true,
    supported: { 'dynamic-import': false },
  });
  return converted.code;
};

/** Returns the statements that esbuild inserts before each converted module; here they are needed once per file. */
export async function conversionHelpers(options: BuildOptions): Promise<readonly string[]> {
  const sample = await toCommonJs(options, 'import fs from "node:fs";export const used=()=>fs;');
  return sample.slice(0, sample.indexOf('var stdin_exports')).split(/(?=var __)/);
}

interface Conversion {
  readonly options: BuildOptions;
  /** Statements that a file of chunks has once. */
  readonly helpers: readonly string[];
  /** Names of the chunks that consist only of Coffer's own sources. */
  readonly own: ReadonlySet<string>;
}

/**
 * Converts a chunk to a CommonJS function; `import()` becomes a promise of `require()`. Chunks require each other by
 * number.
 *
 * esbuild's own conversion defines each export twice, with calls that cost more at startup than most modules. A chunk
 * is converted from ES modules and only read by other chunks, so one object is enough and is its own namespace. Chunks
 * do not import each other in cycles (modules that do are in the same chunk), so `own` chunks can export plain values
 * at their end.
 */
export async function asFunction(
  { options, helpers, own }: Conversion,
  name: string,
  code: string,
): Promise<string> {
  const converted = await toCommonJs(options, code);
  const bare = helpers.reduce((text, helper) => text.replace(helper, ''), converted);
  let end = '';
  const plain = bare
    .replace(EXPORTS, (whole: string, members: string) => {
      const exported = exportedNames(members);
      if (exported === undefined) return whole;
      const isOwn = own.has(name);
      if (isOwn) end = exportsObject(exported.map(([name, value]) => `${name}:${value}`));
      return isOwn ? '' : exportsObject(exported.map(([name, value]) => `get ${name}(){return ${value}}`));
    })
    // Tells ES modules which exports a CommonJS file has; only chunks import chunks.
    .replace(/0&&\(module\.exports=\{[^}]*\}\);/g, '')
    .replace(/__toESM\((require\("\.\/[^"]+"\))\)/g, '$1');
  const called = withPlainCalls(plain, own)
    .replace(/\bPromise\.resolve\(\)\.then\(\(\)=>require\("\.\/(\d+)\.js"\)\)/g, 'require.later($1)')
    .replace(/\brequire\("\.\/(\d+)\.js"\)/g, 'require($1)')
    // Loaded on first use: of Node's own modules this one takes longest to load, and a client of an agent does not need
    // it.
    .replace(/(import_node_crypto\d*)=(require\("node:crypto"\))/g, '$1=()=>$2')
    .replace(/(import_node_crypto\d*)\.(\w+)/g, '($1().$2)');
  return `function(require,module,exports){${withShortImports(called + end)}}`;
}

/**
 * Calls what a chunk imports as members, `a.b()`. esbuild writes `(0,a.b)()`, so that the function does not get the
 * module as `this`; Node's functions and Coffer's own do not use it.
 */
function withPlainCalls(code: string, own: ReadonlySet<string>): string {
  const plain = new Set<string>();
  for (const [, name = '', module = ''] of code.matchAll(IMPORTED)) {
    if (module.startsWith('node:') || own.has(module)) plain.add(name);
  }
  return code.replace(GUARDED, (whole: string, keyword: string | undefined, name: string, member: string) =>
    plain.has(name) ? `${keyword ? `${keyword} ` : ''}${name}.${member}` : whole,
  );
}

const IMPORTED = /\b(import_\w+)=(?:__toESM\()?require\("([^"]+)"\)/g;

/** Guarded call, where it cannot be the arguments of another call: after an operator, a bracket or a keyword. */
const GUARDED =
  /(?:(?<![\w$.])(await|case|else|return|throw|typeof|void|yield)|(?<=[,;:?{(=<>&|!+]|\.\.\.))\(0,(import_\w+)\.([\w$]+)\)(?=\()/g;

/**
 * Gives what a chunk imports names of two or three characters, in one statement. Each use of another module is through
 * its name, which esbuild leaves as long as `import_node_process`, so the files become a twentieth smaller.
 */
function withShortImports(code: string): string {
  const used = new Set(code.match(/[\w$]+/g));
  const free = SHORT_NAMES.filter((name) => !used.has(name));
  const short = new Map<string, string>();
  for (const [, name = ''] of code.matchAll(IMPORTS)) {
    const next = short.get(name) ?? free[short.size];
    if (next === undefined) throw new Error('a chunk imports more than there are short names');
    short.set(name, next);
  }
  return code
    .replace(/(?<=\bvar import_\w+=(?:\(\)=>)?require\("?[\w:./-]+"?\));var (?=import_\w+=)/g, ',')
    .replace(/\bimport_\w+\b/g, (name) => short.get(name) ?? name);
}

const IMPORTS = /\b(import_\w+)=(?=require\(|\(\)=>require\(|__toESM\()/g;

const LETTERS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'];
/** Names of two characters, and of three, more than any chunk imports. */
const SHORT_NAMES: readonly string[] = ['', ...LETTERS].flatMap((last) =>
  ['$', '_'].flatMap((first) => LETTERS.map((middle) => first + middle + last)),
);

const EXPORTS =
  /var stdin_exports=\{\};__export\(stdin_exports,\{([^}]*)\}\);module\.exports=__toCommonJS\(stdin_exports\);/;

const exportsObject = (members: readonly string[]): string => `module.exports={${members.join(',')}};`;

/** Parses the exports that esbuild writes as `name:()=>value,…`; undefined for any other form. */
function exportedNames(members: string): (readonly [name: string, value: string])[] | undefined {
  const exported: (readonly [string, string])[] = [];
  for (const member of members.split(',')) {
    const [, name, value] = /^([\w$]+):\(\)=>([\w$]+)$/.exec(member) ?? [];
    if (name === undefined || value === undefined) return undefined;
    exported.push([name, value]);
  }
  return exported;
}
