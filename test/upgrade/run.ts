/**
 * The last release and this one on one store, as during an upgrade: `npm run test:upgrade`. Builds the last release with
 * what its lock file names, and needs PostgreSQL (Debian's). Ends with one line: N passed, N failed.
 *
 * - COFFER_RELEASES_CACHE=DIRECTORY: where earlier releases are built, instead of below the temporary directory
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Cluster } from '../store/postgres/cluster.ts';
import { newSchema } from '../store/postgres/database.ts';
import { whyNoDatabase } from '../store/postgres/installed.ts';
import { CHECKS, FILES_CHECKS } from './checks.ts';
import { Fleet } from './fleet.ts';
import { builtRelease, LAST_RELEASE } from './releases.ts';

const today = fileURLToPath(new URL('../../bin/coffer', import.meta.url));
const tally = { passed: 0, failed: 0, skipped: 0 };

execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/build.ts', import.meta.url))], {
  stdio: 'inherit',
});
const earlier = builtRelease(LAST_RELEASE);
const directory = mkdtempSync(join(tmpdir(), 'coffer-upgrade-'));
try {
  await tryAll('files', join(directory, 'store'), FILES_CHECKS);
  const missing = whyNoDatabase();
  if (missing === undefined) await onDatabase();
  else {
    tally.skipped += 1;
    console.log(`skip postgresql: ${missing}`);
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
console.log(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`);
process.exitCode = tally.failed === 0 ? 0 : 1;

async function onDatabase(): Promise<void> {
  const cluster = await Cluster.create();
  try {
    await tryAll('postgresql', cluster.location(newSchema()), CHECKS);
  } finally {
    await cluster.remove();
  }
}

/** Each check goes on with the store as the one before it left it, as an upgrade does. */
async function tryAll(name: string, location: string, checks: typeof CHECKS): Promise<void> {
  const fleet = await Fleet.start({ earlier, today, location, home: join(directory, name) });
  try {
    for (const [title, check] of Object.entries(checks)) {
      const failure = await check(fleet).then(
        () => undefined,
        (error: unknown) => error,
      );
      tally[failure === undefined ? 'passed' : 'failed'] += 1;
      console.log(`${failure === undefined ? 'ok  ' : 'FAIL'} ${name}: ${title}`);
      if (failure !== undefined) console.log(failure);
    }
  } finally {
    await fleet.stop();
  }
}
