/**
 * Has man and mandoc read every page of the manual: neither may have anything to say about one. Not in `npm test`, since it installs them where they
 * are missing.
 *
 *     node test/release/manual.ts
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** What each is given before the name of a file, so that it prints what is wrong with it. */
const READERS: readonly (readonly [program: string, debianPackage: string, ...before: string[]])[] = [
  ['man', 'man-db', '--warnings', '-E', 'UTF-8', '-l'],
  ['mandoc', 'mandoc', '-T', 'lint'],
];

const missing = READERS.filter(([program]) => spawnSync('which', [program]).status !== 0);
if (missing.length > 0) {
  execFileSync('apt-get', ['install', '-y', '-q', ...missing.map(([, name]) => name)], { stdio: 'inherit' });
}
execFileSync(process.execPath, [join(root, 'scripts/manual.ts')], { stdio: 'inherit' });

let said = 0;
const pages = globSync('dist/man/man*/*', { cwd: root }).sort();
for (const page of pages) {
  for (const [program, , ...before] of READERS) {
    const { status, stdout, stderr } = spawnSync(program, [...before, page], {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, MANPAGER: 'cat', MANWIDTH: '80', LC_ALL: 'C.UTF-8' },
    });
    // What man prints on standard output is the page, what mandoc prints there is what it found.
    const complaint = `${program === 'man' ? '' : stdout}${stderr}`.trim();
    if (status === 0 && complaint === '') continue;
    said++;
    process.stdout.write(`${page}: ${program} ended with ${status}\n${complaint}\n`);
  }
}
process.stdout.write(`manual: ${pages.length} pages, ${said} complaints\n`);
process.exitCode = pages.length > 100 && said === 0 ? 0 : 1;
