import type { AgentDoorKind } from '../agent-door.ts';

/**
 * PKCS #11, for programs that load p11-kit's client module.
 * @see docs/decisions/0212
 */
export const pkcs11: AgentDoorKind = {
  name: 'pkcs11',
  programs: 'programs that load p11-kit-client.so (PKCS #11)',
  uses: {
    sign: { help: 'sign data', operations: ['transit sign'] },
    decrypt: { help: 'decrypt with RSA', operations: ['transit decrypt'] },
  },
  needs: ['transit keys read'],
  refusal({ type, derived, typesIn }) {
    if (derived) return 'derived keys have no single public key';
    return typesIn('pkcs11').includes(type) ? undefined : `p11-kit does not support keys of type ${type}`;
  },
  variables: (socket) => ({ P11_KIT_SERVER_ADDRESS: `unix:path=${socket}` }),
  load: async () => (await import('./pkcs11-door.ts')).openPkcs11Door,
};
