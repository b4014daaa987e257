import { peopleWrites } from '../writes.ts';
import { failEverywhere } from './everywhere.ts';

failEverywhere(peopleWrites);
