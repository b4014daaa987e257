import { operation } from '../operation.ts';
import { integer, keyName } from '../params.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST keys/:name/trim',
  capability: 'update',
  params: {
    name: keyName({ help: 'The named key.', required: true, cli: { positional: true, refersTo: 'key' } }),
    min_available_version: integer({
      help: 'Oldest version to keep; every earlier one is deleted for good.',
      cli: { metavar: 'N' },
    }),
  },
  cli: {
    confirm: async (values) =>
      `Delete every version of key ${values['name']} below ${values['min_available_version']} for good?`,
  },
  async run({ core, mount }, values) {
    const transit = await core.transit(mount);
    return { data: await transit.trimKey(values.name, values.min_available_version) };
  },
});
