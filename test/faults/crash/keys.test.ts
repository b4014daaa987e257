import { isLong } from '../../long.ts';
import { keyWrites, storeWrites } from '../writes.ts';
import { crashEverywhere } from './everywhere.ts';

// The long proof has those of whole stores in a file of their own.
crashEverywhere(isLong ? keyWrites : [...keyWrites, ...storeWrites.filter(({ name }) => name === 'rekey')]);
