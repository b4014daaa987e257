import { alternatives } from '../../../ground/alternatives.ts';
import type { AgentDoorKind } from '../agent-door.ts';
import { pluginIdentity, pluginRecipient } from './names.ts';

/** age plugin protocol (`age-plugin-coffer`). */
export const age: AgentDoorKind = {
  name: 'age',
  programs: 'age (age-plugin-coffer)',
  uses: { open: { help: 'decrypt files', operations: ['transit decrypt'] } },
  needs: ['transit keys read'],
  refusal({ type, typesIn }) {
    const types = typesIn('age');
    return types.includes(type)
      ? undefined
      : `age does not support keys of type ${type}; use ${alternatives(types)}`;
  },
  named: (key) => [
    ['identity', pluginIdentity(key)],
    ['recipient', pluginRecipient(key)],
  ],
  variables: () => ({}),
  endsItself: true,
  load: async () => (await import('./age-door.ts')).openAgeDoor,
};
