import { invalid } from '../../ground/errors.ts';
import { operation } from '../declaration/operation.ts';
import { flag, text } from '../declaration/params.ts';
import { printSealStatus, serverOf } from './seal-state.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /sys/unseal',
  capability: 'update',
  unauthenticated: true,
  whileSealed: true,
  bare: true,
  params: {
    key: text({ help: 'A master key, a passphrase, the text of a key file, or one recovery share.' }),
    reset: flag({ help: 'Forget the shares that were given so far.', default: false }),
    migrate: flag({ help: 'Accepted for the sake of clients; ignored.', cli: { hidden: true } }),
  },
  async run({ core }, values) {
    const server = serverOf(core);
    if (values.reset) return { data: printSealStatus(await server.resetUnseal()) };
    if (values.key === undefined || values.key === '') {
      throw invalid("'key' must be specified in request body as JSON, or 'reset' set to true", {
        field: 'key',
      });
    }
    return { data: printSealStatus(await server.unseal(values.key)) };
  },
});
