import { keyWrites } from '../writes.ts';
import { failEverywhere } from './everywhere.ts';

failEverywhere(keyWrites);
