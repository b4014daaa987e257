import { type AgentDoorKind, sealingRefusal } from '../agent-door.ts';

/**
 * Kubernetes KMS plugin, version 2. It is not one of the user agent's protocols: `coffer kms` serves it for one key,
 * where the API server expects it.
 */
export const kms: AgentDoorKind = {
  name: 'kms',
  programs: 'the Kubernetes API server',
  uses: {
    seal: { help: 'encrypt and decrypt seeds', operations: ['transit encrypt', 'transit decrypt'] },
  },
  needs: ['transit keys read'],
  refusal: (key) => sealingRefusal('Kubernetes', key),
  variables: () => ({}),
  load: async () => (await import('./kms-door.ts')).openKmsDoor,
};
