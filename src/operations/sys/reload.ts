import { invalid } from '../../ground/errors.ts';
import { operation } from '../declaration/operation.ts';
import { text, texts } from '../declaration/params.ts';
import { serverOf } from './seal-state.ts';

/** Where a cache size set earlier takes effect. */
export const declaration = operation({
  api: 'vault',
  route: 'POST /sys/plugins/reload/backend',
  capability: 'update',
  params: {
    plugin: text({ help: 'The engine to reload: transit.' }),
    mounts: texts({ help: 'The mounts to reload, in place of all of an engine.' }),
    scope: text({ help: 'Accepted for the sake of clients; all processes of this server reload.' }),
  },
  async run({ core }, values) {
    if ((values.plugin ?? '') === '' && (values.mounts ?? []).length === 0) {
      throw invalid('plugin or mounts must be provided', {
        field: 'plugin',
        hint: 'send "plugin": "transit"',
      });
    }
    for (const path of values.mounts ?? []) await core.mounts.get(path, 'transit');
    await serverOf(core).reload();
    return {};
  },
});
