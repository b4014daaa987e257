import { peopleWrites } from '../writes.ts';
import { crashEverywhere } from './everywhere.ts';

crashEverywhere(peopleWrites);
