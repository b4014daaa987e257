import { MemoryBackend } from '../../../src/store/backends/memory.ts';
import { describeBackend } from '../../contracts/store-backend.ts';

describeBackend('memory', async (content) => {
  const backend = await MemoryBackend.create(content);
  return { backend, reopen: () => backend };
});
