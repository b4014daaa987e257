import { deleteKey } from '../../transit/lifecycle.ts';
import { operation } from '../declaration/operation.ts';
import { existingKey } from './parameters.ts';

export const declaration = operation({
  api: 'vault',
  mount: 'transit',
  route: 'DELETE keys/:name',
  capability: 'delete',
  params: { name: existingKey },
  cli: {
    confirm: async (values) =>
      `Delete key ${values['name']} for good? What it encrypted can never be decrypted.`,
    done: (values) => `Deleted key ${values['name']}.`,
  },
  async run({ core, mount }, values) {
    const engine = await core.engine(mount);
    await deleteKey(engine, values.name);
    return {};
  },
});
