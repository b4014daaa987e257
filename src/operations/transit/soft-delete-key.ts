import { operation } from '../declaration/operation.ts';
import { existingKey } from './parameters.ts';
import { markSoftDeleted } from './soft-deletion.ts';

export const declaration = operation({
  api: 'vault',
  mount: 'transit',
  route: 'DELETE keys/:name/soft-delete',
  capability: 'delete',
  params: { name: existingKey },
  run: (call, values) => markSoftDeleted(call, values.name, true, 'key was already marked as soft deleted'),
});
