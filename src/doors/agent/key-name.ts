import { DEFAULT_MOUNT } from '../../mounts/paths.ts';

/** Returns the unique name of a key for users and programs: with its mount, unless that is the default one. */
export const keyNameOf = ({ mount, key }: { readonly mount: string; readonly key: string }): string =>
  mount === DEFAULT_MOUNT ? key : `${mount}/${key}`;
