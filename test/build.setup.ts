import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Tests that spawn the command run the bundle that is shipped, so it is built from the sources under test first. */
export default function setup(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL('../scripts/build.ts', import.meta.url))], {
    stdio: 'inherit',
  });
}
