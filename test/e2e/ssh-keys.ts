/** What `ssh-keygen` is told of the size of a key: RSA keys of its default size take it a second. */
export const sizeOf = (type: string): readonly string[] => (type === 'rsa' ? ['-b', '2048'] : []);
