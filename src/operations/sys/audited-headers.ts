/** Request headers that are recorded in the audit log. */

import { invalid } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import { atTopToo, type Core, done, operation } from '../declaration/operation.ts';
import { flag, text } from '../declaration/params.ts';

const header = text({ help: 'Name of the header, case-insensitive.', required: true });

const trailOf = async (core: Core) => (await core.access()).headersInTrail;

export const list = operation({
  route: 'GET /sys/config/auditing/request-headers',
  capability: 'sudo',
  withoutSecret: true,
  async run({ core }) {
    return atTopToo({ headers: await (await trailOf(core)).read() });
  },
});

export const read = operation({
  route: 'GET /sys/config/auditing/request-headers/:header',
  capability: 'sudo',
  withoutSecret: true,
  params: { header },
  async run({ core }, { header: name }) {
    const headers = await (await trailOf(core)).read();
    const known = name.toLowerCase();
    const found = Object.hasOwn(headers, known) ? headers[known] : undefined;
    if (found === undefined) throw invalid(ownWords('Could not find header in config'), { field: 'header' });
    // Under the requested name, as in Vault.
    return atTopToo({ [name]: found });
  },
});

export const write = operation({
  route: 'POST /sys/config/auditing/request-headers/:header',
  capability: 'sudo',
  params: {
    header,
    hmac: flag({ help: 'Record a keyed hash instead of the value.', default: false }),
  },
  run: done(async ({ core }, { header: name, hmac }) => (await trailOf(core)).write(name, hmac)),
});

export const remove = operation({
  route: 'DELETE /sys/config/auditing/request-headers/:header',
  capability: 'sudo',
  params: { header },
  run: done(async ({ core }, { header: name }) => (await trailOf(core)).remove(name)),
});
