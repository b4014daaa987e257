import { operation } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';
import { serverOf } from './seal-state.ts';

export const declaration = operation({
  api: 'vault',
  route: 'GET /sys/metrics',
  capability: 'read',
  answersText: true,
  params: {
    format: text({ help: 'Accepted for the sake of clients; the answer is always in Prometheus format.' }),
  },
  async run({ core }) {
    const body = await serverOf(core).metrics();
    return { text: { contentType: 'text/plain; version=0.0.4; charset=utf-8', body } };
  },
});
