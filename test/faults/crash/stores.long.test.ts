import { storeWrites } from '../writes.ts';
import { crashEverywhere } from './everywhere.ts';

crashEverywhere(storeWrites);
