import { FORWARDED_USE } from '../../../access/doors.ts';
import type { AgentDoorKind } from '../agent-door.ts';

const SIGN = ['transit sign'];

/** ssh-agent, for ssh, git and ssh-keygen. */
export const ssh: AgentDoorKind = {
  name: 'ssh',
  programs: 'ssh, git and ssh-keygen (ssh-agent protocol)',
  uses: {
    login: { help: 'log in with ssh', operations: SIGN },
    sign: { help: 'sign commits and files', operations: SIGN },
    [FORWARDED_USE]: {
      help: 'log in and sign through a forwarded ssh-agent',
      operations: SIGN,
      isExtra: true,
    },
    any: { help: 'sign any data, including certificates', operations: SIGN, isExtra: true },
  },
  needs: ['transit keys read'],
  refusal({ type, derived, typesIn }) {
    if (derived) return 'derived keys have no single public key';
    return typesIn('ssh').includes(type) ? undefined : `SSH does not support keys of type ${type}`;
  },
  variables: (socket) => ({ SSH_AUTH_SOCK: socket }),
  endsItself: true,
  load: async () => (await import('./ssh-door.ts')).openSshDoor,
};
