/**
 * Builds CommonJS bundles of which a command loads only the parts that it needs.
 *
 * esbuild splits code into chunks only as ES modules, which start 10 ms slower and cannot be part of a single
 * executable. So its chunks are converted to CommonJS here and written as tables of functions: `coffer.cjs` with the
 * code of frequent commands; `coffer-more.cjs` with the other commands, `coffer-serve.cjs` with code that only the
 * server uses, and `coffer-yaml.cjs` with the YAML parser, each loaded on first use. All share one module cache, so
 * that a class is the same class everywhere.
 * @see docs/decisions/0070
 */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type BuildOptions, build, type Metafile, transform } from 'esbuild';

/**
 * Sources that `encrypt`, `decrypt`, `sign`, `verify`, `exec` and similar commands load; a test runs them without the
 * other parts.
 */
const FREQUENT = [
  'src/cli/command-line.ts',
  'src/cli/terminal/streams.ts',
  'src/cli/commands/envelope.ts',
  'src/cli/runner-agent.ts',
  'src/cli/commands/exec.ts',
  'src/cli/commands/git-textconv.ts',
  'src/cli/processes/launch.ts',
  'src/cli/commands/verify.ts',
  'src/cli/runner-local.ts',
  'src/operations/core.ts',
  'src/operations/transit/data-key.ts',
  'src/operations/transit/encrypt.ts',
  'src/operations/transit/decrypt.ts',
  'src/operations/transit/rewrap.ts',
  'src/operations/transit/sign.ts',
  'src/operations/transit/verify.ts',
  'src/operations/transit/hmac.ts',
  'src/secret-files/dotenv.ts',
  'src/store/backends/files/files-backend.ts',
  'src/store/open.ts',
  'src/transit/decrypt.ts',
];

/** Sources whose exclusive imports are a separate part: a web server is as large as all the rest. */
const SERVING = [
  'src/cli/commands/agent-run.ts',
  'src/cli/commands/kms.ts',
  'src/cli/commands/serve.ts',
  'src/cli/commands/serve-worker.ts',
];

/**
 * Sources whose exclusive imports are a separate part that is needed alone: git runs the command twice for each file of
 * a diff.
 */
const READING_YAML = ['src/secret-files/yaml.ts', 'src/tag-files/yaml.ts'];

/**
 * Parts that are searched, in this order, for a chunk that is neither in the first part nor in a part loaded for its
 * own sake.
 */
const PARTS = ['coffer-more.cjs', 'coffer-serve.cjs'] as const;
const YAML_PART = 'coffer-yaml.cjs';

type Outputs = Metafile['outputs'];
type Chunk = readonly [name: string, code: string];

export interface Bundle {
  readonly main: string;
  /** Files that `main` loads from its own directory. */
  readonly parts: readonly string[];
  /** Paths of the bundled files, relative to the working directory. */
  readonly inputs: readonly string[];
}

/**
 * Bundles `entry` into the files of the command.
 * @returns their paths
 */
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
  const { outputs } = split.metafile;
  const own = ownChunks(outputs);
  const helpers = await conversionHelpers(options);
  const functions = await Promise.all(
    split.outputFiles.map(async (file) => {
      const name = nameOf(file.path);
      return [name, await asFunction(options, helpers, file.text, own.has(name))] as const;
    }),
  );
  const frequent = reached(outputs, (source) => FREQUENT.includes(source));
  const common = reached(outputs, (source) => !SERVING.includes(source));
  const readingYaml = reached(outputs, (source) => [...FREQUENT, ...READING_YAML].includes(source));
  const main = join(directory, 'coffer.cjs');
  const isYaml = ([name]: Chunk): boolean => readingYaml.has(name) && !frequent.has(name);
  const yaml = functions.filter(isYaml);
  const first = functions.filter(([name]) => frequent.has(name));
  writeFileSync(
    main,
    mainFile(
      helpers,
      first,
      yaml.map(([name]) => name),
    ),
  );
  const rest = functions.filter((chunk) => !frequent.has(chunk[0]) && !isYaml(chunk));
  const parts: readonly (readonly [string, readonly Chunk[]])[] = [
    [PARTS[0], rest.filter(([name]) => common.has(name))],
    [PARTS[1], rest.filter(([name]) => !common.has(name))],
    [YAML_PART, yaml],
  ];
  const files = parts.map(([name, chunks]) => {
    const file = join(directory, name);
    writeFileSync(file, `${helpers.join('')}module.exports=${table(chunks)};\n`);
    return file;
  });
  return {
    main,
    parts: files,
    inputs: Object.values(outputs).flatMap((output) => Object.keys(output.inputs)),
  };
}

const nameOf = (path: string): string => `./${basename(path)}`;

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
async function conversionHelpers(options: BuildOptions): Promise<readonly string[]> {
  const sample = await toCommonJs(options, 'import fs from "node:fs";export const used=()=>fs;');
  return sample.slice(0, sample.indexOf('var stdin_exports')).split(/(?=var __)/);
}

/** Returns the chunks that consist only of Coffer's own sources, in which no exported variable is reassigned. */
const ownChunks = (outputs: Outputs): Set<string> =>
  new Set(
    Object.entries(outputs)
      .filter(([, { inputs }]) => Object.keys(inputs).every((source) => source.startsWith('src/')))
      .map(([path]) => nameOf(path)),
  );

/**
 * Converts a chunk to a CommonJS function; `import()` becomes a promise of `require()`.
 *
 * esbuild's own conversion defines each export twice, with calls that cost more at startup than most modules. A chunk
 * is converted from ES modules and only read by other chunks, so one object is enough and is its own namespace. Chunks
 * do not import each other in cycles (modules that do are in the same chunk), so `own` chunks can export plain values
 * at their end.
 */
async function asFunction(
  options: BuildOptions,
  helpers: readonly string[],
  code: string,
  own: boolean,
): Promise<string> {
  const converted = await toCommonJs(options, code);
  const bare = helpers.reduce((text, helper) => text.replace(helper, ''), converted);
  let end = '';
  const plain = bare
    .replace(EXPORTS, (whole: string, members: string) => {
      const exported = exportedNames(members);
      if (exported === undefined) return whole;
      if (own) end = exportsObject(exported.map(([name, value]) => `${name}:${value}`));
      return own ? '' : exportsObject(exported.map(([name, value]) => `get ${name}(){return ${value}}`));
    })
    .replace(/__toESM\((require\("\.\/[^"]+"\))\)/g, '$1')
    // Loaded on first use: of Node's own modules this one takes longest to load, and a client of an agent does not need
    // it.
    .replace(/(import_node_crypto\d*)=(require\("node:crypto"\))/g, '$1=()=>$2')
    .replace(/(import_node_crypto\d*)\.(\w+)/g, '($1().$2)');
  return `function(require,module,exports){${plain}${end}}`;
}

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

/** Returns the chunks that the program reaches if only the dynamic imports of `followed` sources are followed. */
function reached(outputs: Outputs, followed: (source: string) => boolean): Set<string> {
  const names = new Set<string>();
  const add = (path: string): void => {
    if (names.has(nameOf(path))) return;
    names.add(nameOf(path));
    for (const { path: imported, kind } of outputs[path]?.imports ?? []) {
      const output = outputs[imported];
      if (output === undefined) continue;
      if (kind === 'import-statement' || followed(output.entryPoint ?? '')) add(imported);
    }
  };
  for (const path of Object.keys(outputs)) if (nameOf(path) === './main.js') add(path);
  return names;
}

const table = (functions: readonly Chunk[]): string =>
  `{${functions.map(([name, code]) => `${JSON.stringify(name)}:${code}`).join(',\n')}}`;

/**
 * Returns the main file. The other parts are next to it or, in a single executable, are assets, since `require` only
 * finds Node's own modules there.
 */
const mainFile = (
  helpers: readonly string[],
  functions: readonly Chunk[],
  yaml: readonly string[],
): string => `'use strict';
${helpers.join('')}
const functions = ${table(functions)};
const loaded = {};
const yaml = new Set(${JSON.stringify(yaml)});
const parts = [${PARTS.map((name) => `() => loadPart('${name}')`).join(', ')}];
function load(name) {
  const known = loaded[name];
  if (known !== undefined) return known.exports;
  if (!name.startsWith('./')) return (loaded[name] = { exports: require(name) }).exports;
  while (!(name in functions)) Object.assign(functions, yaml.has(name) ? loadPart('${YAML_PART}') : parts.shift()());
  const module = (loaded[name] = { exports: {} });
  functions[name](load, module, module.exports);
  return module.exports;
}
function loadPart(file) {
  const sea = process.getBuiltinModule('node:sea');
  if (!sea.isSea()) return require('./' + file);
  const module = { exports: {} };
  const { Script } = process.getBuiltinModule('node:vm');
  const source = Buffer.from(sea.getRawAsset(file)).latin1Slice();
  const cache = file + '.cache';
  const cachedData = sea.getAssetKeys().includes(cache) ? Buffer.from(sea.getRawAsset(cache)) : undefined;
  new Script(source, { filename: file, cachedData }).runInThisContext()(require, module);
  return module.exports;
}
module.exports = load('./main.js');
`;
