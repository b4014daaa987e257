import { operation } from '../declaration/operation.ts';
import { publicRead, serverOf } from './seal-state.ts';

export const declaration = operation({
  ...publicRead,
  route: 'GET /sys/internal/specs/openapi',
  async run({ core }) {
    return { data: serverOf(core).apiDocument() };
  },
});
