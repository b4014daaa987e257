/** Audit devices over HTTP: they can be listed, but only be configured when the server is started. */

import { type CofferError, invalid } from '../../ground/errors.ts';
import { trimSlashes } from '../../ground/trim.ts';
import { atTopToo, done, operation } from '../declaration/operation.ts';
import { text, textMap } from '../declaration/params.ts';

/** Path of the audit log, for a server that has one. */
const FILE = 'file';

const devicePath = text({ help: 'Name of the audit log.', required: true });

export const list = operation({
  route: 'GET /sys/audit',
  capability: 'sudo',
  withoutSecret: true,
  async run({ core: { auditFile } }) {
    const device = {
      description: '',
      local: false,
      options: { file_path: auditFile ?? '' },
      path: `${FILE}/`,
      type: 'file',
    };
    return atTopToo(auditFile === undefined ? {} : { [device.path]: device });
  },
});

/** Refuses to enable one: a caller who can write chosen text to a chosen file controls the machine (CVE-2025-6000). */
export const enable = operation({
  route: 'POST /sys/audit/:path+',
  capability: 'sudo',
  withoutSecret: true,
  params: {
    path: devicePath,
    type: text({ help: 'Type of the audit log.', default: '' }),
    description: text({ help: 'Description.', default: '' }),
    options: textMap({ help: 'Path of the audit log.' }),
  },
  async run(): Promise<never> {
    throw refused('enable');
  },
});

export const disable = operation({
  route: 'DELETE /sys/audit/:path+',
  capability: 'sudo',
  withoutSecret: true,
  params: { path: devicePath },
  run: done(async ({ core }, { path }) => {
    if (core.auditFile !== undefined && trimSlashes(path) === FILE) throw refused('disable');
  }),
});

const HINTS = {
  enable: 'restart the server with --audit-log FILE',
  disable: 'restart the server without --audit-log',
};

const refused = (what: 'enable' | 'disable'): CofferError =>
  invalid(
    `cannot ${what} audit device via API; use declarative, config-based audit device management instead`,
    { field: 'path', hint: HINTS[what] },
  );
