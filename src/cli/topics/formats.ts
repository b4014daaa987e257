import { envelopeFormat } from './envelope-format.ts';
import { policyFormat } from './policy-format.ts';
import { secretsFormat } from './secrets-format.ts';
import { storeFormat } from './store-format.ts';
import { tagsFormat } from './tags-format.ts';
import type { Topic } from './topic.ts';

/** Formats that users write or read themselves, in the order of help. */
export const formats: readonly Topic[] = [
  secretsFormat,
  envelopeFormat,
  storeFormat,
  policyFormat,
  tagsFormat,
];
