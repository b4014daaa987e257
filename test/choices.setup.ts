import { relative } from 'node:path';
import { expect } from 'vitest';
import { chooseFor, replaceDrawing } from './choices.ts';

chooseFor(relative(process.cwd(), expect.getState().testPath ?? ''));
replaceDrawing();
