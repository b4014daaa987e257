import { notFound } from '../../errors.ts';
import { operation } from '../operation.ts';
import { integer, text } from '../params.ts';

export const declaration = operation({
  api: 'vault',
  route: 'LIST keys',
  capability: 'list',
  params: {
    after: text({ help: 'Start after this name, which need not exist.', cli: { metavar: 'NAME' } }),
    limit: integer({ help: 'At most so many names; 0 for all.', default: 0, cli: { metavar: 'N' } }),
  },
  cli: { result: { member: 'keys', as: 'lines' } },
  async run({ core, mount }, values) {
    const transit = await core.transit(mount);
    const keys = await transit.listKeys({
      ...(values.after === undefined ? {} : { after: values.after }),
      ...(values.limit > 0 ? { limit: values.limit } : {}),
    });
    // Peers answer a list of nothing as something that is not there.
    if (keys.length === 0)
      throw notFound('there are no keys', { hint: 'make one with "transit keys create"' });
    return { data: { keys } };
  },
});
