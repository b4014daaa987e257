import type { Backend } from '../../../src/store/backends/backend.ts';
import { MemoryBackend } from '../../../src/store/backends/memory.ts';
import { describeBackend } from '../../contracts/store-backend.ts';

const stores = new Map<string, Backend>();

const MAKER = { cannot: 'whoever makes it has it, and nobody looks for it' };
const PROCESS = { cannot: 'it lives and dies with the process' };

describeBackend('memory', {
  kind: {
    async create({ text }, content) {
      stores.set(text, await MemoryBackend.create(content));
    },
    async open({ text }) {
      const backend = stores.get(text);
      if (backend === undefined) throw new Error(`there is no ${text}`);
      return backend;
    },
  },
  location: () => ({ text: `store ${stores.size}`, defaults: {} }),
  exported: PROCESS,
  places: MAKER,
  waits: { cannot: 'nobody but the process that waits could keep it waiting' },
  copy: PROCESS,
  reachesDisk: PROCESS,
  creationReachesDisk: PROCESS,
  files: PROCESS,
  patienceMs: 20_000,
});
