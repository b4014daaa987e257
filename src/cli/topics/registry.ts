import { envelopeFormat } from './envelope-format.ts';
import { policyFormat } from './policy-format.ts';
import { secretsFormat } from './secrets-format.ts';
import { sharing } from './sharing.ts';
import { storeFormat } from './store-format.ts';
import { tagsFormat } from './tags-format.ts';
import type { Topic } from './topic.ts';
import { unlocking } from './unlocking.ts';

/** Topics with a page of their own in the manual, in the order of help. */
export const topicPages: readonly Topic[] = [
  unlocking,
  sharing,
  secretsFormat,
  envelopeFormat,
  storeFormat,
  policyFormat,
  tagsFormat,
];
