import { listKeys } from '../../transit/lifecycle.ts';
import { integer, text } from '../declaration/params.ts';
import { transitOperation } from './parameters.ts';

export const declaration = transitOperation({
  route: 'LIST keys',
  capability: 'list',
  params: {
    after: text({ help: 'Start after this name, which need not exist.', cli: { metavar: 'NAME' } }),
    limit: integer({ help: 'At most so many names; 0 for all.', default: 0, cli: { metavar: 'N' } }),
  },
  cli: { result: { member: 'keys', as: 'lines' } },
  async run({ engine }, values) {
    const keys = await listKeys(engine, {
      ...(values.after === undefined ? {} : { after: values.after }),
      ...(values.limit > 0 ? { limit: values.limit } : {}),
    });
    return keys.length === 0 ? { data: { keys }, nothingListed: true } : { data: { keys } };
  },
});
