import { storeWrites } from '../writes.ts';
import { failEverywhere } from './everywhere.ts';

failEverywhere(storeWrites);
