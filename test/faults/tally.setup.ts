import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundleOne } from 'esbuild';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { bundle } from '../../scripts/bundle.ts';
import { addSum } from '../sums.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The command as it is shipped, bundled from the sources under test. */
    readonly command: string;
    /** What is loaded into a process before it. */
    readonly preload: string;
    /** What runs in a process of its own because the whole process is under some condition. */
    readonly conditions: string;
    /** One line is added for each fault, and for each promise that was found broken. */
    readonly tally: string;
  }
}

interface Built extends Pick<ProvidedContext, 'command' | 'preload' | 'conditions' | 'tally'> {
  readonly directory: string;
}

const rootPath = fileURLToPath(new URL('../..', import.meta.url));

/** Says to the other project of a run what the first one has built, as JSON. */
const RUN_VARIABLE = 'COFFER_TEST_FAULTS_RUN';

/** Builds what the faults strike, and says in the end how many there were. */
export default async function setup({ provide }: TestProject): Promise<(() => void) | undefined> {
  const said = process.env[RUN_VARIABLE];
  const built = said === undefined ? await build() : (JSON.parse(said) as Built);
  for (const name of ['command', 'preload', 'conditions', 'tally'] as const) provide(name, built[name]);
  if (said !== undefined) return undefined;
  process.env[RUN_VARIABLE] = JSON.stringify(built);
  return () => {
    delete process.env[RUN_VARIABLE];
    tell(built);
    rmSync(built.directory, { recursive: true, force: true });
  };
}

async function build(): Promise<Built> {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-faults-'));
  const common = {
    absWorkingDir: rootPath,
    bundle: true,
    platform: 'node',
    target: 'node24',
    minify: true,
    logLevel: 'warning',
    define: { COFFER_VERSION: '"0.0.0"' },
  } as const;
  const preload = join(directory, 'preload.cjs');
  const [{ main }] = await Promise.all([
    bundle(common, 'src/main.ts', directory),
    bundleOne({
      ...common,
      entryPoints: [fileURLToPath(new URL('layer/preload.ts', import.meta.url))],
      outfile: preload,
      format: 'cjs',
    }),
  ]);
  const conditions = join(directory, 'conditions.mjs');
  await bundleOne({
    ...common,
    entryPoints: [fileURLToPath(new URL('conditions/main.ts', import.meta.url))],
    outfile: conditions,
    format: 'esm',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  const tally = join(directory, 'tally');
  writeFileSync(tally, '');
  return { directory, command: main, preload, conditions, tally };
}

function tell({ tally }: Built): void {
  const lines = readFileSync(tally, 'utf8').split('\n');
  const count = (word: string): string =>
    lines.filter((line) => line.startsWith(word)).length.toLocaleString('en-US');
  const kinds = ['crash states', 'kills'].map((kind) => `${count(`injected ${kind}`)} ${kind}`);
  process.stdout.write(
    `\nfaults: ${count('injected')} injected faults, ${count('broken')} broken promises (of these ${kinds.join(', ')})\n`,
  );
  addSum('injected faults', lines.filter((line) => line.startsWith('injected')).length);
}
