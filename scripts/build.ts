/**
 * Builds the published files: `dist/coffer.cjs` with its parts, the command, and the third-party licenses;
 * `dist/library.js` and `dist/library-main.js` for `import … from 'coffer'`, with its declarations in `dist/types`. Neither needs any other
 * package. With `--untyped` it omits the declarations, which take longest and which no test needs.
 * @see docs/decisions/0310
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { stampFile, stampOf } from './built.ts';
import { bundle } from './bundle.ts';
import { LICENSES, licensesOfBundle } from './licenses.ts';
import { rootHelp } from './root-help.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Computed before the first source is read: a change during the build makes the next build run again. */
const stamp = stampOf(root);
const { version, engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
  version: string;
  engines: { node: string };
};

const common: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node24',
  minify: true,
  keepNames: false,
  legalComments: 'none',
  logLevel: 'warning',
  define: {
    COFFER_VERSION: JSON.stringify(version),
    DRAWN_HELP: JSON.stringify(await rootHelp()),
    // The PostgreSQL client would otherwise load an installed package of the name of its native variant.
    'process.env.NODE_PG_FORCE_NATIVE': 'undefined',
  },
};

/** The library without its entry point, which any Node can read. */
const LIBRARY_MAIN = 'library-main.js';

/** Returns the entry point: an outdated Node fails with a sentence, not with the first name that it does not know. */
function libraryEntry(): string {
  const needed = engines.node.replace('>=', '');
  return `const needed = [${needed.split('.').join(', ')}];
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  throw new Error('coffer needs Node ${needed} or newer, this is ' + process.versions.node + ' (install a current Node from https://nodejs.org)');
}
export const { openStore, CofferError } = await import('./${LIBRARY_MAIN}');
`;
}

// An interrupted build leaves no stamp, so it is not taken for a complete one.
rmSync(stampFile(root), { force: true });

const isTyped = !process.argv.includes('--untyped');
if (isTyped) rmSync(`${root}dist/types`, { recursive: true, force: true });
const [command, library] = await Promise.all([
  bundle(common, 'src/main.ts', `${root}dist`),
  build({
    ...common,
    entryPoints: ['src/library.ts'],
    outfile: `dist/${LIBRARY_MAIN}`,
    format: 'esm',
    // Stack traces contain its lines, and Node prints the whole line of an uncaught error.
    minify: false,
    // For CommonJS packages, since `require` does not exist in a module.
    banner: {
      js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
    },
    metafile: true,
  }),
]);
writeFileSync(`${root}dist/library.js`, libraryEntry());
const inputs = [...command.inputs, ...Object.keys(library.metafile.inputs)];
writeFileSync(`${root}dist/${LICENSES}`, licensesOfBundle(root, inputs));
if (isTyped) {
  execFileSync(`${root}node_modules/.bin/tsc`, ['-p', 'tsconfig.types.json'], {
    cwd: root,
    stdio: 'inherit',
  });
}
writeFileSync(stampFile(root), stamp);
