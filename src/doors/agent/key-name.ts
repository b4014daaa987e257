import { DEFAULT_MOUNT } from '../../mounts/paths.ts';

/** How people and programs are told of a key: with its mount, unless that is the usual one, so that no two keys are called the same. */
export const keyNameOf = ({ mount, key }: { readonly mount: string; readonly key: string }): string =>
  mount === DEFAULT_MOUNT ? key : `${mount}/${key}`;
