/** Operations of the server itself; other files have its seal, mounts, policies and capabilities. */

import { invalid, ownWords } from '../../ground/errors.ts';
import { computing, done, METRICS_CONTENT_TYPE, operation } from '../declaration/operation.ts';
import { text, texts } from '../declaration/params.ts';
import { publicRead, serverOf } from './seal.ts';

/** Reloads: applies a cache size that was set earlier. */
export const reload = operation({
  route: 'POST /sys/plugins/reload/backend',
  withoutSecret: true,
  params: {
    plugin: text({ help: 'Engine to reload; only "transit" is supported.' }),
    mounts: texts({ help: 'Mounts to reload, instead of `plugin`; all other mounts are reloaded as well.' }),
    scope: text({ help: 'Accepted for compatibility; ignored: every process of the server reloads.' }),
  },
  run: done(async ({ core }, values) => {
    if ((values.plugin ?? '') === '' && (values.mounts ?? []).length === 0) {
      throw invalid(ownWords('plugin or mounts must be provided'), {
        field: 'plugin',
        hint: 'send "plugin": "transit"',
      });
    }
    for (const path of values.mounts ?? []) await core.mounts.get(path, 'transit');
    await serverOf(core).reload();
  }),
});

export const metrics = operation({
  route: 'GET /sys/metrics',
  withoutSecret: true,
  answersText: true,
  params: {
    format: text({ help: 'Accepted for compatibility; the response is always in Prometheus format.' }),
  },
  async run({ core, caller }) {
    const { tokens } = await core.access();
    const token = caller.token === undefined ? undefined : await tokens.find(caller.token);
    const ends = token !== undefined && Number.isFinite(token.untilMs) ? token.untilMs / 1000 : undefined;
    const body = await serverOf(core).metrics(ends);
    return { text: { contentType: METRICS_CONTENT_TYPE, body } };
  },
});

/** Returns the form of a value in the audit log, to search for it. */
export const auditHash = operation({
  route: 'POST /sys/audit-hash/:path+',
  ...computing,
  params: {
    path: text({ help: 'Name of an audit device; all use the same HMAC key.', required: true }),
    input: text({ long: true, help: 'Value to hash.', default: '' }),
  },
  async run({ core }, values) {
    if (values.input === '') throw invalid(ownWords('the "input" parameter is empty'), { field: 'input' });
    const recorder = await (await core.access()).auditRecorder();
    return { data: { hash: recorder.hash(values.input) } };
  },
});

export const apiDocument = operation({
  ...publicRead,
  route: 'GET /sys/internal/specs/openapi',
  answersTheSame: true,
  async run({ core }) {
    return { data: serverOf(core).apiDocument() };
  },
});
