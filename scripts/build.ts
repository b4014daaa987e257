/**
 * Builds what is shipped: `dist/coffer.cjs`, the whole command in one minified CommonJS file (a CommonJS bundle starts
 * about 10 ms faster than an ES module one, and only it can lie in a single executable), `dist/library.js`
 * for `import … from 'coffer'`, and with `--types` its declarations.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };

const common: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node24',
  minify: true,
  keepNames: false,
  legalComments: 'none',
  logLevel: 'warning',
  define: { COFFER_VERSION: JSON.stringify(version) },
};

rmSync(`${root}dist/types`, { recursive: true, force: true });
await Promise.all([
  build({ ...common, entryPoints: ['src/main.ts'], outfile: 'dist/coffer.cjs', format: 'cjs' }),
  build({
    ...common,
    entryPoints: ['src/library.ts'],
    outfile: 'dist/library.js',
    format: 'esm',
    packages: 'external',
  }),
]);
if (process.argv.includes('--types') || !existsSync(`${root}dist/types`)) {
  execFileSync(`${root}node_modules/.bin/tsc`, ['-p', 'tsconfig.types.json'], {
    cwd: root,
    stdio: 'inherit',
  });
}
