/** `main.ts <condition> <template>`: runs what belongs under a condition that a whole process has to be in. */
import { Sandbox } from '../sandbox.ts';
import { fullDisk } from './full-disk.ts';
import { permissions } from './permissions.ts';
import { readOnly } from './read-only.ts';

const conditions: Readonly<Record<string, (template: Sandbox) => Promise<void>>> = {
  'full-disk': fullDisk,
  'read-only': readOnly,
  permissions,
};

const [condition = '', template = ''] = process.argv.slice(2);
await conditions[condition]?.(new Sandbox(template));
