import type { AgentDoorKind } from '../agent-door.ts';

/**
 * PKCS #11, for programs that load p11-kit's client module.
 * @see docs/decisions/0212
 */
export const pkcs11: AgentDoorKind = {
  name: 'pkcs11',
  help: 'To programs that load p11-kit-client.so, as a PKCS #11 token.',
  uses: {
    sign: { help: 'sign', operations: ['transit sign'] },
    decrypt: { help: 'decrypt with RSA', operations: ['transit decrypt'] },
  },
  needs: ['transit keys read'],
  refusal({ type, derived, typesIn }) {
    if (derived) return 'it is derived, so it has no one public key';
    return typesIn('pkcs11').includes(type)
      ? undefined
      : `p11-kit forwards nothing that keys of the type ${type} do`;
  },
  variables: (socket) => ({ P11_KIT_SERVER_ADDRESS: `unix:path=${socket}` }),
  load: async () => (await import('./pkcs11-door.ts')).openPkcs11Door,
};
