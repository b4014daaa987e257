import type { AgentDoorKind } from '../agent-door.ts';
import { sealingRefusal } from '../sealing-keys.ts';

/**
 * A plugin of Kubernetes' KMS, version 2. It is no door of the agent of a person: `coffer kms` opens it for one key, where the API server
 * looks for it.
 */
export const kms: AgentDoorKind = {
  name: 'kms',
  help: 'To the API server of Kubernetes.',
  uses: {
    seal: { help: 'encrypt and decrypt seeds', operations: ['transit encrypt', 'transit decrypt'] },
  },
  needs: ['transit keys read'],
  refusal: (key) => sealingRefusal('Kubernetes', key),
  variables: () => ({}),
  load: async () => (await import('./kms-door.ts')).openKmsDoor,
};
