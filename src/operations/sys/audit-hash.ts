import { operation } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';

/** How a value looks in the audit trail, for whoever searches it. */
export const declaration = operation({
  api: 'vault',
  route: 'POST /sys/audit-hash/:path+',
  capability: 'update',
  computes: true,
  params: {
    path: text({ help: 'The name of an audit log; all are written with one key.', required: true }),
    input: text({ help: 'The value.', required: true }),
  },
  async run({ core }, values) {
    const recorder = await (await core.access()).auditRecorder();
    return { data: { hash: recorder.hash(values.input) } };
  },
});
