import type { AgentDoorKind } from '../agent-door.ts';
import { pluginIdentity, pluginRecipient } from './names.ts';

/** What age-plugin-coffer asks, for age and programs like it. */
export const age: AgentDoorKind = {
  name: 'age',
  help: 'To age, through age-plugin-coffer.',
  uses: { open: { help: 'open files', operations: ['transit decrypt'] } },
  needs: ['transit keys read'],
  refusal: ({ type }) =>
    /^(?:x25519|mlkem768-x25519)$/.test(type)
      ? undefined
      : `age has no keys of the type ${type}; use x25519 or mlkem768-x25519`,
  named: (key) => [
    ['identity', pluginIdentity(key)],
    ['recipient', pluginRecipient(key)],
  ],
  variables: () => ({}),
  endsItself: true,
  load: async () => (await import('./age-door.ts')).openAgeDoor,
};
