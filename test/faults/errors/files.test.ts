import { fileWrites } from '../writes.ts';
import { failEverywhere } from './everywhere.ts';

failEverywhere(fileWrites);
