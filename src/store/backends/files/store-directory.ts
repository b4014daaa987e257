import type { Layout } from './layout.ts';
import type { Log } from './log/log.ts';
import type { StateDirectory } from './state-directory.ts';

/** Directory that contains a store. */
export interface StoreDirectory {
  readonly layout: Layout;
  readonly state: StateDirectory;
  readonly log: Log;
}
