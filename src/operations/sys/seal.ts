import { operation } from '../declaration/operation.ts';
import { serverOf } from './seal-state.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /sys/seal',
  capability: 'sudo',
  params: {},
  async run({ core }) {
    await serverOf(core).seal();
    return {};
  },
});
