import type { Store } from './store.ts';

/** An unlocked store. */
export interface SealedStore extends Store {}
