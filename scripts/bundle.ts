/**
 * Makes CommonJS bundles of which a command loads only what it needs.
 *
 * esbuild splits code into chunks only as ES modules, which start 10 ms slower and can't lie in a single executable. So its
 * chunks are turned into CommonJS here and written as two tables of functions: `coffer.cjs` with what the frequent commands
 * use, and `coffer-more.cjs` with everything else, which is read when first asked for. Both tables share one cache of
 * modules, so that a class is the same class on both sides.
 */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type BuildOptions, build, type Metafile, transform } from 'esbuild';

/** What `encrypt`, `decrypt`, `sign`, `verify` and their like load on their way; a test runs them without the rest. */
const FREQUENT = [
  'src/cli/commands/envelope-decrypt.ts',
  'src/cli/commands/envelope-encrypt.ts',
  'src/cli/runner-local.ts',
  'src/operations/core.ts',
  'src/operations/transit/data-key.ts',
  'src/operations/transit/encrypt.ts',
  'src/operations/transit/decrypt.ts',
  'src/operations/transit/rewrap.ts',
  'src/operations/transit/sign.ts',
  'src/operations/transit/verify.ts',
  'src/operations/transit/hmac.ts',
  'src/store/open.ts',
  'src/transit/transit.ts',
];

type Outputs = Metafile['outputs'];

export interface Bundle {
  readonly main: string;
  readonly more: string;
}

/** Bundles `entry` into the two files, and answers their paths. */
export async function bundle(options: BuildOptions, entry: string, directory: string): Promise<Bundle> {
  const split = await build({
    ...options,
    entryPoints: { main: entry },
    outdir: directory,
    format: 'esm',
    splitting: true,
    chunkNames: '[name]-[hash]',
    metafile: true,
    write: false,
  });
  const helpers = await conversionHelpers(options);
  const functions = await Promise.all(
    split.outputFiles.map(
      async (file) => [nameOf(file.path), await asFunction(options, helpers, file.text)] as const,
    ),
  );
  const frequent = namesOf(split.metafile.outputs);
  const main = join(directory, 'coffer.cjs');
  const more = join(directory, 'coffer-more.cjs');
  writeFileSync(
    main,
    mainFile(
      helpers,
      functions.filter(([name]) => frequent.has(name)),
    ),
  );
  const others = functions.filter(([name]) => !frequent.has(name));
  writeFileSync(more, `${helpers.join('')}module.exports=${table(others)};\n`);
  return { main, more };
}

const nameOf = (path: string): string => `./${basename(path)}`;

const toCommonJs = async (options: BuildOptions, code: string): Promise<string> => {
  const converted = await transform(code, {
    format: 'cjs',
    platform: 'node',
    ...(options.target === undefined ? {} : { target: options.target }),
    minifyWhitespace: true,
    supported: { 'dynamic-import': false },
  });
  return converted.code;
};

/** What esbuild puts before each converted module, one statement each; here it stands once in a file. */
async function conversionHelpers(options: BuildOptions): Promise<readonly string[]> {
  const sample = await toCommonJs(options, 'import fs from "node:fs";export const used=()=>fs;');
  return sample.slice(0, sample.indexOf('var stdin_exports')).split(/(?=var __)/);
}

/**
 * A chunk as a CommonJS function; `import()` becomes a promise of `require()`.
 *
 * esbuild's own conversion defines each export twice over, by calls that cost more at start than most modules do. A chunk
 * comes from ES modules and is read only by its like, so one object with a getter for each export is enough, and is its own
 * namespace.
 */
async function asFunction(options: BuildOptions, helpers: readonly string[], code: string): Promise<string> {
  const converted = await toCommonJs(options, code);
  const bare = helpers.reduce((text, helper) => text.replace(helper, ''), converted);
  const plain = bare
    .replace(EXPORTS, (whole: string, members: string) => exportsObject(members) ?? whole)
    .replace(/__toESM\((require\("\.\/[^"]+"\))\)/g, '$1');
  return `function(require,module,exports){${plain}}`;
}

const EXPORTS =
  /var stdin_exports=\{\};__export\(stdin_exports,\{([^}]*)\}\);module\.exports=__toCommonJS\(stdin_exports\);/;

function exportsObject(members: string): string | undefined {
  const getters: string[] = [];
  for (const member of members.split(',')) {
    const [, name, value] = /^([\w$]+):\(\)=>([\w$]+)$/.exec(member) ?? [];
    if (name === undefined) return undefined;
    getters.push(`get ${name}(){return ${value}}`);
  }
  return `module.exports={__proto__:null,${getters.join(',')}};`;
}

/** The chunks that the frequent commands need, with all that these import at once. */
function namesOf(outputs: Outputs): Set<string> {
  const names = new Set<string>();
  const add = (path: string): void => {
    if (names.has(nameOf(path))) return;
    names.add(nameOf(path));
    for (const { path: imported, kind } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && imported in outputs) add(imported);
    }
  };
  for (const [path, output] of Object.entries(outputs)) {
    const entry = output.entryPoint;
    if (entry === undefined) continue;
    if (nameOf(path) === './main.js' || FREQUENT.includes(entry)) add(path);
  }
  return names;
}

const table = (functions: readonly (readonly [string, string])[]): string =>
  `{${functions.map(([name, code]) => `${JSON.stringify(name)}:${code}`).join(',\n')}}`;

/** The rest lies beside this file, or in a single executable as an asset, where `require` knows only Node's own modules. */
const mainFile = (
  helpers: readonly string[],
  functions: readonly (readonly [string, string])[],
): string => `'use strict';
${helpers.join('')}
const frequent = ${table(functions)};
const loaded = {};
let more;
function load(name) {
  if (!name.startsWith('./')) return require(name);
  const known = loaded[name];
  if (known !== undefined) return known.exports;
  const define = frequent[name] ?? (more ??= loadMore())[name];
  const module = (loaded[name] = { exports: {} });
  define(load, module, module.exports);
  return module.exports;
}
function loadMore() {
  const sea = process.getBuiltinModule('node:sea');
  if (!sea.isSea()) return require('./coffer-more.cjs');
  const module = { exports: {} };
  const { Script } = process.getBuiltinModule('node:vm');
  const code = '(function(module){' + sea.getAsset('coffer-more.cjs', 'utf8') + '})';
  new Script(code, { filename: 'coffer-more.cjs' }).runInThisContext()(module);
  return module.exports;
}
module.exports = load('./main.js');
`;
