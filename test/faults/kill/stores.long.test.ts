import { storeWrites } from '../writes.ts';
import { killEverywhere } from './everywhere.ts';

killEverywhere(storeWrites);
