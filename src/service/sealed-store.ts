import { type CofferError, sealed } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import type { Store } from '../store/store.ts';

const refusal = (): CofferError =>
  sealed(ownWords('the store is sealed'), { hint: 'unseal the server first' });

/** Placeholder for the store while a server is sealed. */
export const sealedStore: Store = {
  id: '',
  async read() {
    throw refusal();
  },
  async transact() {
    throw refusal();
  },
  async revision() {
    throw refusal();
  },
  limitCache() {},
  close() {},
};
