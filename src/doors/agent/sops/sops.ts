import type { AgentDoorKind } from '../agent-door.ts';

/** A key service of sops: it encrypts and decrypts the data keys of files. */
export const sops: AgentDoorKind = {
  name: 'sops',
  help: 'To sops, as a key service.',
  uses: {
    encrypt: { help: 'encrypt and rotate files', operations: ['transit encrypt'] },
    decrypt: { help: 'open them', operations: ['transit decrypt'] },
  },
  needs: [],
  refusal({ type, derived }) {
    if (derived) return 'it is derived, and sops has no context to give';
    const encrypts = /^(?:aes|chacha20|xchacha20|rsa)/.test(type);
    return encrypts ? undefined : `it does not encrypt (${type})`;
  },
  variables: (socket) => ({
    SOPS_KEYSERVICE: `unix://${socket}`,
    SOPS_ENABLE_LOCAL_KEYSERVICE: 'false',
  }),
  variablesOnRequest: true,
  load: async () => (await import('./sops-door.ts')).openSopsDoor,
};
