import type { OwnCommand } from '../command.ts';
import { clearAfterwards } from '../processes/clipboard.ts';

/** Maximum size of what the starting process writes, in bytes. */
const MOST_BYTES = 1 << 16;

/** Process that `--copy` starts: it empties the clipboard after a while. */
export const inBackground: OwnCommand = {
  async run({ streams, environment }) {
    await clearAfterwards(streams.in.readAll(MOST_BYTES).toString(), environment);
  },
};
