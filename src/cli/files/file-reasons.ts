/** Why a file can't be opened, read or written, by the platform's code, where it is the same for input and output. */
export const FILE_REASONS = {
  ENOTDIR: 'part of the path is not a directory',
  ELOOP: 'the links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EMFILE: 'too many open files',
  EIO: 'the disk reports an error',
} as const;
