import { fileWrites } from '../writes.ts';
import { killEverywhere } from './everywhere.ts';

killEverywhere(fileWrites);
