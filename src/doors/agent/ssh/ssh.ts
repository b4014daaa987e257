import { FORWARDED_USE } from '../../../access/doors.ts';
import type { AgentDoorKind } from '../agent-door.ts';

const SIGN = ['transit sign'];

/** ssh-agent, for ssh, git and ssh-keygen. */
export const ssh: AgentDoorKind = {
  name: 'ssh',
  help: 'To ssh, git and ssh-keygen, as ssh-agent does.',
  uses: {
    login: { help: 'log in with ssh', operations: SIGN },
    sign: { help: 'sign commits and files', operations: SIGN },
    [FORWARDED_USE]: {
      help: 'do so from machines that one is logged in to',
      operations: SIGN,
      isExtra: true,
    },
    any: { help: 'sign whatever a program sends, certificates too', operations: SIGN, isExtra: true },
  },
  needs: ['transit keys read'],
  refusal({ type, derived, typesIn }) {
    if (derived) return 'it is derived, so it has no one public key';
    return typesIn('ssh').includes(type) ? undefined : `SSH has no keys of the type ${type}`;
  },
  variables: (socket) => ({ SSH_AUTH_SOCK: socket }),
  endsItself: true,
  load: async () => (await import('./ssh-door.ts')).openSshDoor,
};
