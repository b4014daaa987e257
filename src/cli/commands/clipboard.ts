import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { clearAfterwards } from '../processes/clipboard.ts';

/** Maximum size of what the starting process writes, in bytes. */
const MOST_BYTES = 1 << 16;

/** Process that `--copy` starts: it empties the clipboard after a while. */
export const inBackground: Command = {
  arguments: [],
  options: [],
  examples: [],
  async run({ streams, environment }) {
    await clearAfterwards(streams.in.readAll(MOST_BYTES).toString(), environment);
    return DONE;
  },
};
