import { refusedAt, type TagFormat } from './tag-file.ts';
import { fromTree, toTree } from './tree.ts';

export const json: TagFormat = {
  parse(text, file, checks) {
    return fromTree(parsed(text, file), file, checks);
  },
  print: (content) => `${JSON.stringify(toTree(content), undefined, 2)}\n`,
};

function parsed(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refusedAt(file, '', `invalid JSON: ${(error as Error).message}`);
  }
}
