import { peopleWrites } from '../writes.ts';
import { killEverywhere } from './everywhere.ts';

killEverywhere(peopleWrites);
