/** Request headers that are recorded in the audit log. */

import { invalid, ownWords } from '../../ground/errors.ts';
import { accessOperation } from '../declaration/mount-operations.ts';
import { atTopToo, done } from '../declaration/operation.ts';
import { flag, text } from '../declaration/params.ts';

const header = text({ help: 'Name of the header, case-insensitive.', required: true });

export const list = accessOperation({
  route: 'GET /sys/config/auditing/request-headers',
  capability: 'sudo',
  withoutSecret: true,
  run: async ({ access }) => atTopToo({ headers: await access.headersInTrail.read() }),
});

export const read = accessOperation({
  route: 'GET /sys/config/auditing/request-headers/:header',
  capability: 'sudo',
  withoutSecret: true,
  params: { header },
  async run({ access }, { header: name }) {
    const headers = await access.headersInTrail.read();
    const known = name.toLowerCase();
    const found = Object.hasOwn(headers, known) ? headers[known] : undefined;
    if (found === undefined) throw invalid(ownWords('Could not find header in config'), { field: 'header' });
    // Under the requested name, as in Vault.
    return atTopToo({ [name]: found });
  },
});

export const write = accessOperation({
  route: 'POST /sys/config/auditing/request-headers/:header',
  capability: 'sudo',
  params: {
    header,
    hmac: flag({ help: 'Record a keyed hash instead of the value.', default: false }),
  },
  run: done(({ access }, { header: name, hmac }) => access.headersInTrail.write(name, hmac)),
});

export const remove = accessOperation({
  route: 'DELETE /sys/config/auditing/request-headers/:header',
  capability: 'sudo',
  params: { header },
  run: done(({ access }, { header: name }) => access.headersInTrail.remove(name)),
});
