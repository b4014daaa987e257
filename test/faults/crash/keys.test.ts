import { keyWrites } from '../writes.ts';
import { crashEverywhere } from './everywhere.ts';

crashEverywhere(keyWrites);
