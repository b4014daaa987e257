import { fileWrites } from '../writes.ts';
import { crashEverywhere } from './everywhere.ts';

crashEverywhere(fileWrites);
