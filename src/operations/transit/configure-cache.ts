import { changeSettings } from '../../transit/mount-settings.ts';
import { operation } from '../declaration/operation.ts';
import { integer } from '../declaration/params.ts';

export const declaration = operation({
  api: 'vault',
  mount: 'transit',
  route: 'POST cache-config',
  capability: 'update',
  params: {
    size: integer({
      help: 'Entries to keep in memory, at least 10; 0 for no limit. Servers take it up at their next reload.',
      default: 0,
      cli: { metavar: 'N' },
    }),
  },
  cli: {
    examples: [
      ['coffer transit cache-config', 'the present size'],
      ['coffer transit cache-config --size 500', 'servers keep at most 500 keys opened'],
    ],
    result: { member: 'size', as: 'text' },
    withoutParam: { param: 'size', run: 'read-cache-config' },
  },
  async run({ core, mount }, values) {
    const engine = await core.engine(mount);
    const { cacheSize } = await changeSettings(engine, { cacheSize: values.size });
    return { data: { size: cacheSize } };
  },
});
