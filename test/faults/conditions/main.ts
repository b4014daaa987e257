/** `main.ts <condition> <template> [arguments…]`: runs what belongs under a condition that a whole process has to be in. */
import { Sandbox } from '../sandbox.ts';
import { crowd } from './crowd.ts';
import { fullDisk } from './full-disk.ts';
import { changes, watcher } from './parts.ts';
import { permissions } from './permissions.ts';
import { readOnly, readOnlyAndDirty } from './read-only.ts';
import { reader } from './reader.ts';
import { writer } from './writer.ts';

const conditions: Readonly<Record<string, (template: Sandbox, more: readonly string[]) => Promise<void>>> = {
  crowd,
  writer,
  reader,
  changes,
  watcher,
  'full-disk': fullDisk,
  'read-only': readOnly,
  'read-only-and-dirty': readOnlyAndDirty,
  permissions,
};

const [condition = '', template = '', ...more] = process.argv.slice(2);
await conditions[condition]?.(new Sandbox(template), more);
