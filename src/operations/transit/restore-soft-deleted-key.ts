import { operation } from '../declaration/operation.ts';
import { existingKey } from './parameters.ts';
import { markSoftDeleted } from './soft-deletion.ts';

export const declaration = operation({
  api: 'vault',
  mount: 'transit',
  route: 'POST keys/:name/soft-delete-restore',
  capability: 'update',
  params: { name: existingKey },
  run: (call, values) => markSoftDeleted(call, values.name, false, 'key was already restored'),
});
