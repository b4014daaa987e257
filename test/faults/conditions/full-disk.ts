import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkRefusal, checkStoreAfter, expectationsOf, run } from '../aftermath.ts';
import { Sandbox } from '../sandbox.ts';
import { fileWrites, keyWrites, peopleWrites, storeWrites } from '../writes.ts';
import { observe, sampledFor } from './report.ts';

const PAGE_BYTES = 4096;
/** How much room is left: none, the last of what a write needs, and all of it. */
const PAGES_LEFT = [0, 1, 2, 3, 5, 8, 13, 21];
/** Two stores, each with a log of 1 MiB and the file that follows it. */
const DISK_KIBIBYTES = 6144;

/** Mounts a small disk of its own, and lets every write meet its end. */
export async function fullDisk(template: Sandbox): Promise<void> {
  const disk = `${template.root}.disk`;
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_KIBIBYTES}k,mode=0700`, 'tmpfs', disk]);
  const writes = [...keyWrites, ...peopleWrites, ...storeWrites, ...fileWrites];
  for (const write of sampledFor('full disk', writes)) {
    const expected = await expectationsOf(write, template);
    for (const pages of sampledFor(`room for ${write.name}`, PAGES_LEFT, 3)) {
      const box = copyTo(template, join(disk, 'box'));
      const filler = join(disk, 'filler');
      fill(filler, pages);
      const answer = await run(write, box);
      rmSync(filler);
      await observe(`${write.name} with ${pages} pages left`, async () => {
        if (answer.exitCode !== 0) checkRefusal(answer, 'ENOSPC');
        await checkStoreAfter(write, box, expected, { acknowledged: answer.exitCode === 0 });
      });
      box.remove();
    }
  }
}

function copyTo(template: Sandbox, root: string): Sandbox {
  cpSync(template.root, root, { recursive: true });
  return new Sandbox(root);
}

/** Takes all room but that of some pages. */
function fill(path: string, pagesLeft: number): void {
  const piece = Buffer.alloc(PAGE_BYTES);
  let pages = 0;
  writeFileSync(path, '');
  try {
    for (; ; pages++) writeFileSync(path, piece, { flag: 'a' });
  } catch {
    truncateSync(path, Math.max(0, pages - pagesLeft) * PAGE_BYTES);
  }
}
