/**
 * Tries what `npm run release` has put into `dist/release` as those who get it do: `node test/release/packages.ts`, or with
 * `executables npm image sbom installers action forms arm64` for some. No part of `npm test`: it wants programs of the distribution, a registry, and
 * for the image root; what is missing is skipped with the reason, and has not been shown then: the exit code is 1.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Unavailable } from '../clients/client.ts';
import { checks as action } from './action.ts';
import { checks as arm64 } from './arm64.ts';
import { benchIn, type Checks } from './bench.ts';
import { checks as executables } from './executables.ts';
import { checks as forms } from './forms.ts';
import { checks as image } from './image.ts';
import { checks as installers } from './installers.ts';
import { checks as npm } from './npm.ts';
import { checks as sbom } from './sbom.ts';

/** An emulator is what takes longest. */
const MINUTES = 30;

const known: Readonly<Record<string, Checks>> = {
  executables,
  npm,
  image,
  sbom,
  installers,
  action,
  forms,
  arm64,
};
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(known);
const tally = { passed: 0, failed: 0, skipped: 0 };

for (const name of wanted) {
  const checks = known[name];
  if (checks === undefined)
    throw new Error(`there is no "${name}"; there are ${Object.keys(known).join(', ')}`);
  for (const [title, check] of Object.entries(checks)) await tell(`${name}: ${title}`, check);
}
console.log(`packages: ${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`);
process.exitCode = tally.failed + tally.skipped === 0 && tally.passed > 0 ? 0 : 1;

async function tell(title: string, check: Checks[string]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-packages-'));
  const cleaners: (() => Promise<void> | void)[] = [];
  const where = {
    directory,
    environment: {
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: directory,
      GOPROXY: process.env['GOPROXY'],
      GOFLAGS: process.env['GOFLAGS'],
    },
    signal: AbortSignal.timeout(MINUTES * 60_000),
  };
  try {
    await check(benchIn(where, (clean) => void cleaners.push(clean)));
    tally.passed += 1;
    console.log(`ok   ${title}`);
  } catch (error) {
    const skipped = error instanceof Unavailable;
    tally[skipped ? 'skipped' : 'failed'] += 1;
    console.log(`${skipped ? 'skip' : 'FAIL'} ${title}\n${indented(error)}`);
  } finally {
    for (const clean of cleaners.reverse()) await clean();
    rmSync(directory, { recursive: true, force: true });
  }
}

function indented(error: unknown): string {
  const text =
    error instanceof Unavailable ? error.message : error instanceof Error ? error.stack : String(error);
  return (text ?? '').replace(/^/gm, '       ');
}
