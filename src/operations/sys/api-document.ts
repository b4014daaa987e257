import { operation } from '../operation.ts';
import { serverOf } from './seal-state.ts';

export const declaration = operation({
  api: 'vault',
  route: 'GET /sys/internal/specs/openapi',
  capability: 'read',
  unauthenticated: true,
  whileSealed: true,
  bare: true,
  params: {},
  async run({ core }) {
    return { data: serverOf(core).apiDocument() };
  },
});
