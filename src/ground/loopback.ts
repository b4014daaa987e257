/** Whether only programs on this machine reach a host. Names but `localhost` could mean anything. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
