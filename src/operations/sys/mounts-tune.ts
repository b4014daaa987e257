import { operation } from '../declaration/operation.ts';
import { text, textMap } from '../declaration/params.ts';
import { mountPath } from './mount-info.ts';
import { dialectIn } from './mounts-add.ts';
import { existingMount } from './mounts-read.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /sys/mounts/:path+/tune',
  capability: 'update',
  params: {
    path: mountPath,
    description: text({ help: 'A note for people.' }),
    options: textMap({ help: 'May hold "dialect".' }),
  },
  async run({ core }, values) {
    const { path, description } = values;
    const dialect = dialectIn(values.options);
    await existingMount(core.mounts, path);
    await core.mounts.tune(path, {
      ...(description === undefined ? {} : { description }),
      ...(dialect === undefined ? {} : { dialect }),
    });
    return {};
  },
});
