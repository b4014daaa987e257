/**
 * Builds CommonJS bundles of which a command loads only the parts that it needs.
 *
 * esbuild splits code into chunks only as ES modules, which start 10 ms slower and cannot be part of a single
 * executable. So its chunks are converted to CommonJS here and written as tables of functions: `coffer.cjs` with the
 * code that each command needs and that of the most frequent ones, and further parts by what they are for, each loaded
 * on first use, as V8 has to parse all of a file. All share one module cache, so that a class is the same class
 * everywhere.
 * @see docs/decisions/0070
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { asFunction, conversionHelpers } from './chunk.ts';

const MAIN = 'coffer.cjs';

/** Part, and the sources that a command imports dynamically if it needs the part. */
type PartSources = readonly [part: string, sources: readonly string[]];

/** Sources of all commands that a program may run often. */
const FREQUENT = ['src/cli/command-line.ts', 'src/cli/runner-agent.ts', 'src/cli/terminal/streams.ts'];

/**
 * Parts of the first file that are files of their own in the single executable only: it has code that V8 compiled for
 * each of them. Elsewhere, reading one more file takes longer than parsing code that a command does not need.
 */
const INSIDE: readonly PartSources[] = [
  // Gives programs the values of files, and asks an agent for them.
  [
    'coffer-values.cjs',
    [
      'src/cli/commands/exec.ts',
      'src/cli/commands/git-textconv.ts',
      'src/cli/processes/launch.ts',
      'src/cli/team/agent-reading.ts',
      'src/operations/transit/decrypt.ts',
      'src/secret-files/dotenv.ts',
    ],
  ],
  // Opens a store in this process and uses its keys.
  [
    'coffer-store.cjs',
    [
      'src/cli/runner-local.ts',
      'src/operations/core.ts',
      'src/operations/transit/data-key.ts',
      'src/operations/transit/encrypt.ts',
      'src/operations/transit/decrypt.ts',
      'src/operations/transit/rewrap.ts',
      'src/operations/transit/sign.ts',
      'src/operations/transit/verify.ts',
      'src/operations/transit/hmac.ts',
      'src/store/backends/files/files-backend.ts',
      'src/store/open.ts',
      'src/transit/decrypt.ts',
    ],
  ],
];

const FILES: PartSources = [
  'coffer-files.cjs',
  ['src/cli/commands/envelope.ts', 'src/cli/commands/verify.ts'],
];

/**
 * Parts by what they are for, and the sources that a command imports dynamically if it needs the part. A chunk is in
 * the first part whose sources reach it, so each list need not repeat those above it.
 */
const GROUPS: readonly PartSources[] = [
  [MAIN, [...FREQUENT, ...INSIDE.flatMap(([, sources]) => sources)]],
  FILES,
  // The keyring of a repository, for programs that are started with its values.
  [
    'coffer-keyring.cjs',
    ['src/cli/secret-files/last-rules.ts', 'src/cli/team/keeping.ts', 'src/cli/team/team-keys.ts'],
  ],
  // Opens what is encrypted to an SSH key: the conversion of its public half.
  ['coffer-ed25519.cjs', ['src/transit/key-types/age/noble-ed25519.ts']],
  // Commands that users type to see and change what a store has.
  [
    'coffer-everyday.cjs',
    [
      'src/cli/commands/status.ts',
      'src/cli/commands/workspaces-list.ts',
      'src/operations/sys/mounts.ts',
      'src/operations/tags/organizations.ts',
      'src/operations/tags/tags.ts',
      'src/operations/tags/workspaces.ts',
      'src/operations/transit/keys.ts',
      'src/tags/tags.ts',
    ],
  ],
  // Changes a store of files, or reads a log of which a glance is not enough.
  [
    'coffer-changes.cjs',
    ['src/store/backends/files/log/checkpoint.ts', 'src/store/backends/files/logged-files.ts'],
  ],
  ['coffer-table.cjs', ['src/cli/terminal/table.ts']],
  // What is neither typed nor written as the program itself would: help, mistakes, and other programs' spellings.
  ['coffer-help.cjs', ['src/cli/parse/habits.ts', 'src/cli/parse/program.ts', 'src/cli/parse/unfinished.ts']],
  ['coffer-yaml.cjs', ['src/secret-files/yaml.ts', 'src/tag-files/yaml.ts']],
];

/** Sources whose exclusive imports are a separate part: a web server is as large as all the rest. */
const SERVING = [
  'src/cli/commands/agent-run.ts',
  'src/cli/commands/kms.ts',
  'src/cli/commands/serve.ts',
  'src/cli/commands/serve-worker.ts',
];

/** Parts with all other chunks, searched in this order. */
const REST = ['coffer-more.cjs', 'coffer-serve.cjs'] as const;

/** Files of the command, the one that loads the others first. */
export const PARTS: readonly string[] = [...GROUPS.map(([part]) => part), ...REST];

/** Directory of the files that only the single executable has. */
const ONLY_EXECUTABLE = 'executable';
/** Files of the command in the single executable. Each is known there by the last part of its path. */
export const EXECUTABLE_PARTS: readonly string[] = [
  ...[MAIN, ...INSIDE.map(([part]) => part)].map((part) => join(ONLY_EXECUTABLE, part)),
  ...PARTS.filter((part) => part !== MAIN),
];

type Outputs = Metafile['outputs'];
type Chunk = readonly [name: string, code: string];
type Part = readonly [file: string, chunks: readonly Chunk[]];

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
    chunkNames: '[hash]',
    metafile: true,
    write: false,
  });
  const rename = shortNamesOf(split.metafile.outputs);
  const outputs = JSON.parse(rename(JSON.stringify(split.metafile.outputs))) as Outputs;
  const own = ownChunks(outputs);
  const helpers = await conversionHelpers(options);
  const functions = await Promise.all(
    split.outputFiles.map(async (file) => {
      const name = nameOf(rename(file.path));
      return [name, await asFunction({ options, helpers, own }, name, rename(file.text))] as const;
    }),
  );
  const taken = new Set<string>();
  const followed: string[] = [];
  const groups = GROUPS.map(([part, sources]): Part => {
    followed.push(...sources);
    const all = reached(outputs, (source) => followed.includes(source));
    const chunks = functions.filter(([name]) => all.has(name) && !taken.has(name));
    for (const [name] of chunks) taken.add(name);
    return [part, chunks];
  });
  const unserved = reached(outputs, (source) => !SERVING.includes(source));
  const others = functions.filter(([name]) => !taken.has(name));
  const [[, first = []] = [], ...parts] = groups;
  const rest: readonly Part[] = [
    [REST[0], others.filter(([name]) => unserved.has(name))],
    [REST[1], others.filter(([name]) => !unserved.has(name))],
  ];
  const write = (name: string, text: string): string => {
    const file = join(directory, name);
    writeFileSync(file, text);
    return file;
  };
  const partFile = (chunks: readonly Chunk[]): string =>
    `${helpers.join('')}module.exports=${table(chunks)};\n`;
  const main = write(MAIN, mainFile(helpers, first, parts));
  const files = [...parts, ...rest].map(([name, chunks]) => write(name, partFile(chunks)));
  const [common, ...inside] = partsInside(outputs, first);
  mkdirSync(join(directory, ONLY_EXECUTABLE), { recursive: true });
  write(join(ONLY_EXECUTABLE, MAIN), mainFile(helpers, common, [...inside, ...parts]));
  for (const [name, chunks] of inside) write(join(ONLY_EXECUTABLE, name), partFile(chunks));
  return {
    main,
    parts: files,
    inputs: Object.values(outputs).flatMap((output) => Object.keys(output.inputs)),
  };
}

/**
 * Splits the first file into its parts, and what several of them need, or one of them and the files next to them: a
 * command should not load a part for a function or two.
 */
function partsInside(
  outputs: Outputs,
  first: readonly Chunk[],
): readonly [common: readonly Chunk[], ...Part[]] {
  const needed = [...INSIDE, FILES].map(([, sources]) =>
    reached(outputs, (source) => FREQUENT.includes(source) || sources.includes(source)),
  );
  const ownerOf = (name: string): number => {
    const owners = [...needed.keys()].filter((index) => needed[index]?.has(name));
    return owners.length === 1 ? (owners[0] ?? -1) : -1;
  };
  const chunksOf = (owner: number): readonly Chunk[] => first.filter(([name]) => ownerOf(name) === owner);
  const inside = INSIDE.map(([part], index): Part => [part, chunksOf(index)]);
  const own = new Set(inside.flatMap(([, chunks]) => chunks.map(([name]) => name)));
  return [first.filter(([name]) => !own.has(name)), ...inside];
}

/** Returns what names chunks by numbers, in place of hashes, in a text. */
function shortNamesOf(outputs: Outputs): (text: string) => string {
  const hashed = Object.keys(outputs)
    .map((path) => basename(path))
    .filter((name) => `/${name}`.search(CHUNK) === 1);
  const short = new Map(hashed.sort().map((name, index) => [name, `${index}.js`]));
  return (text) => text.replace(CHUNK, (name) => short.get(name) ?? name);
}

const CHUNK = /(?<=\/)[A-Z0-9]{8}\.js\b/g;

const nameOf = (path: string): string => `./${basename(path)}`;

/** Returns the chunks that consist only of Coffer's own sources, in which no exported variable is reassigned. */
const ownChunks = (outputs: Outputs): Set<string> =>
  new Set(
    Object.entries(outputs)
      .filter(([, { inputs }]) => Object.keys(inputs).every((source) => source.startsWith('src/')))
      .map(([path]) => nameOf(path)),
  );

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
  `{${functions.map(([name, code]) => `${keyOf(name)}:${code}`).join(',\n')}}`;

/** Returns the name of a chunk in the tables: its number, or `main`. */
const keyOf = (name: string): string => basename(name, '.js');

/**
 * Returns the main file. The other parts are next to it or, in a single executable, are assets, since `require` only
 * finds Node's own modules there. A part lacks a chunk if an upgrade replaced it while the program runs: each part is
 * therefore searched once.
 * @param parts those that are loaded for chunks of their own
 */
const mainFile = (
  helpers: readonly string[],
  functions: readonly Chunk[],
  parts: readonly Part[],
): string => `'use strict';
${helpers.join('')}
const functions = ${table(functions)};
const loaded = {};
const places = {};
const place = (part, numbers) => { for (const number of numbers) places[number] = part; };
${parts.map(([part, chunks]) => `place('${part}', [${chunks.map(([name]) => keyOf(name)).join()}]);`).join('\n')}
const rest = [${REST.map((name) => `'${name}'`).join(', ')}];
function load(name) {
  const known = loaded[name];
  if (known !== undefined) return known.exports;
  if (typeof name === 'string') return (loaded[name] = { exports: require(name) }).exports;
  while (!(name in functions)) {
    const part = places[name] ?? rest.shift();
    if (part === undefined)
      throw new Error("the program's files were replaced while it was running, or are incomplete");
    delete places[name];
    Object.assign(functions, loadPart(part));
  }
  const module = (loaded[name] = { exports: {} });
  functions[name](load, module, module.exports);
  return module.exports;
}
load.later = (name) => Promise.resolve(name).then(load);
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
functions.main(load, module, module.exports);
`;
