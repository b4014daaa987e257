import { it } from 'vitest';
import { sampled } from '../sampled.ts';
import { seeded } from '../seeded.ts';
import { checkRefusal, checkStoreAfter } from './aftermath.ts';
import { runLimited, undisturbed } from './struck-process.ts';
import { Tally } from './tally.ts';
import { usualTemplate } from './template.ts';
import { fileWrites, keyWrites, peopleWrites, storeWrites } from './writes.ts';

const template = usualTemplate();

/** In blocks of 1,024 bytes: nothing can be written at all, or the larger files can't. */
const LIMITS = [0, 1];

it('a command refuses what a limit of the size of files does not let through, and keeps what was there', async () => {
  const tally = new Tally();
  const writes = [...keyWrites, ...peopleWrites, ...storeWrites, ...fileWrites];
  for (const write of sampled(writes, seeded())) {
    const { expected } = await undisturbed(write, template());
    for (const blocks of LIMITS) {
      const box = template().copy();
      const { end, stdout, stderr } = await runLimited(box, write, blocks);
      await tally.after(`${write.name} with files of ${blocks} KiB at most`, async () => {
        if (end !== 0) checkRefusal({ exitCode: Number(end), stdout, stderr }, 'EFBIG');
        await checkStoreAfter(write, box, expected, { acknowledged: end === 0 });
      });
      box.remove();
    }
  }
  tally.settle();
});
