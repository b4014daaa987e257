import { keyWrites } from '../writes.ts';
import { killEverywhere } from './everywhere.ts';

killEverywhere(keyWrites);
