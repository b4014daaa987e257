import { type AgentDoorKind, sealingRefusal } from '../agent-door.ts';

/** Key service of sops: encrypts and decrypts the data keys of files. */
export const sops: AgentDoorKind = {
  name: 'sops',
  programs: 'sops (key service)',
  uses: {
    encrypt: { help: 'encrypt and rotate files', operations: ['transit encrypt'] },
    decrypt: { help: 'decrypt files', operations: ['transit decrypt'] },
  },
  needs: [],
  refusal: (key) => sealingRefusal('sops', key),
  variables: (socket) => ({
    SOPS_KEYSERVICE: `unix://${socket}`,
    SOPS_ENABLE_LOCAL_KEYSERVICE: 'false',
  }),
  variablesOnRequest: true,
  load: async () => (await import('./sops-door.ts')).openSopsDoor,
};
